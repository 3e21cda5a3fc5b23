// The playground: what the models of a key can do, tried in the browser.

import { signal } from '@preact/signals';
import { h, type JSX, render } from 'preact';
import { callApi } from '../api/call-api.ts';
import { openKeyHolder } from '../api/key-store.ts';
import { CodeSamples } from '../components/code-samples.ts';
import { KeyForm } from '../components/key-form.ts';
import { Modal } from '../components/modal.ts';
import { PageHead } from '../components/page-head.ts';

const keys = openKeyHolder('playground');
const isAskingForKey = signal(false);

function PlaygroundPage(): JSX.Element {
  const hasKey = keys.key.value !== undefined;
  const ask = (): void => {
    isAskingForKey.value = true;
  };
  return h('div', { class: 'page' }, [
    h(PageHead, { current: '/' }, [
      hasKey
        ? h('button', { type: 'button', class: 'button', onClick: keys.forget }, 'Forget key')
        : h('button', { type: 'button', class: 'button button-strong', onClick: ask }, 'Enter API key'),
    ]),
    h('main', { class: 'page-body' }, [
      h('h1', null, 'Playground'),
      h('section', { class: 'panel' }, [
        h('h2', null, 'What this key may use'),
        h(CodeSamples, { samples: [{ language: 'curl', text: listModelsByCurl() }] }),
      ]),
    ]),
    h(KeyDialog, {}),
  ]);
}

function KeyDialog(): JSX.Element {
  const close = (): void => {
    isAskingForKey.value = false;
  };
  return h(
    Modal,
    { title: 'API key', isOpen: isAskingForKey.value, onClose: close },
    h(KeyForm, {
      check: (key) => callApi('/ai/v1/models', { key }),
      onAccept: (key, isKept) => {
        keys.keep(key, isKept);
        close();
      },
      hint: h('p', { class: 'soft' }, [
        'The first key of a server is shown when it starts. Another: ',
        h('code', null, 'umpire keys create playground'),
      ]),
    }),
  );
}

function listModelsByCurl(): string {
  return `curl ${location.origin}/ai/v1/models -H "Authorization: Bearer $UMPIRE_API_KEY"`;
}

const place = document.getElementById('page');
if (place !== null) render(h(PlaygroundPage, {}), place);
