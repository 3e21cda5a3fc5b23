// The playground: what the models of a key can do, tried in the browser.

import { h, type JSX, render } from 'preact';
import { fetchModels } from '../api/model-list.ts';
import { KeyForm } from '../components/key-form.ts';
import { Modal } from '../components/modal.ts';
import { ErrorNotice } from '../components/notice.ts';
import { PageHead } from '../components/page-head.ts';
import { Tabs } from '../components/tabs.ts';
import { followAddress, isLinkBroken } from './address-sync.ts';
import { ChatView } from './chat-view.ts';
import { chooseTab, chosenTab } from './chosen-tab.ts';
import { DecisionView } from './decision-view.ts';
import { EmbeddingView } from './embedding-view.ts';
import { KeyHint } from './key-gate.ts';
import { findModel, isAskingForKey, keys } from './session.ts';
import { ShareButton } from './share-button.ts';

const BROKEN_LINK = 'This link cannot be read. It may have been cut on its way. Here is an example instead.';

function PlaygroundPage(): JSX.Element {
  return h('div', { class: 'page' }, [
    h(PageHead, { current: '/' }, [h(ShareButton, {}), h(KeyButton, {})]),
    h('main', { class: 'page-body' }, [
      h('h1', { class: 'for-ears' }, 'Playground'),
      h(ErrorNotice, { error: isLinkBroken.value ? BROKEN_LINK : undefined }),
      h(Views, {}),
    ]),
    h(KeyDialog, {}),
  ]);
}

function Views(): JSX.Element {
  const chat = { id: 'chat', label: 'Chat', render: () => h(ChatView, {}) };
  const tabs = [
    { id: 'decisions', label: 'Decisions', render: () => h(DecisionView, {}) },
    { id: 'embeddings', label: 'Embeddings', render: () => h(EmbeddingView, {}) },
    ...(findModel('llm') === undefined ? [] : [chat]),
  ];
  return h(Tabs, { label: 'What to try', tabs, chosen: chosenTab.value, onChoose: chooseTab });
}

function KeyButton(): JSX.Element {
  if (keys.key.value !== undefined) {
    return h('button', { type: 'button', class: 'button button-small', onClick: keys.forget }, 'Forget key');
  }
  const ask = (): void => {
    isAskingForKey.value = true;
  };
  return h('button', { type: 'button', class: 'button button-small button-strong', onClick: ask }, 'Enter API key');
}

function KeyDialog(): JSX.Element {
  const close = (): void => {
    isAskingForKey.value = false;
  };
  return h(
    Modal,
    { title: 'API key', isOpen: isAskingForKey.value, onClose: close },
    h(KeyForm, {
      check: fetchModels,
      onAccept: (key, isKept) => {
        keys.keep(key, isKept);
        close();
      },
      hint: h(KeyHint, {}),
    }),
  );
}

const place = document.getElementById('page');
await followAddress();
if (place !== null) render(h(PlaygroundPage, {}), place);
