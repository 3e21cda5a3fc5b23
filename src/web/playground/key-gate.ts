// Stands before whatever needs a key: asks for one where there is none, and says why one that is there does not serve.

import { type ComponentChildren, h, type JSX } from 'preact';
import { RequestError } from '../api/call-api.ts';
import type { UsableModel } from '../api/model-list.ts';
import { fetchModels } from '../api/model-list.ts';
import { KeyForm } from '../components/key-form.ts';
import { ErrorNotice } from '../components/notice.ts';
import { findModel, isAskingForKey, keys, models, modelsError } from './session.ts';

const TYPE_WORDS: Readonly<Record<UsableModel['type'], string>> = {
  decision: 'a decision model',
  embedding: 'an embedding model',
  llm: 'a chat model',
};

export interface KeyGateProps {
  /** Of the model that is needed. */
  readonly type: UsableModel['type'];
  readonly children?: ComponentChildren;
}

export function KeyGate({ type, children }: KeyGateProps): JSX.Element {
  if (keys.key.value === undefined) return h(Welcome, {});
  if (modelsError.value !== undefined) return h(KeyedErrorNotice, { error: modelsError.value });
  if (models.value !== undefined && findModel(type) === undefined) {
    return h('p', { class: 'notice' }, `This key may not use ${TYPE_WORDS[type]}, or the server has none.`);
  }
  return h('div', null, children);
}

function Welcome(): JSX.Element {
  return h('div', { class: 'welcome' }, [
    h('p', null, 'Everything is filled in. With an API key the answers appear here, and change as you type.'),
    h(KeyForm, { check: fetchModels, onAccept: keys.keep, hint: h(KeyHint, {}) }),
  ]);
}

/** What another key would mend. */
const KEY_CODES = ['invalid_api_key', 'insufficient_scope', 'insufficient_quota', 'model_not_allowed'];

/** What went wrong, and a way out where it was for the key. */
export function KeyedErrorNotice({ error }: { readonly error: unknown }): JSX.Element {
  const askForKey = (): void => {
    isAskingForKey.value = true;
  };
  const isOfKey = error instanceof RequestError && KEY_CODES.includes(error.code);
  return h('div', { class: 'keyed-error' }, [
    h(ErrorNotice, { error }),
    isOfKey && h('button', { type: 'button', class: 'button button-small', onClick: askForKey }, 'Enter another key'),
  ]);
}

/** Where a key comes from. */
export function KeyHint(): JSX.Element {
  return h('div', { class: 'soft key-hint' }, [
    h('p', null, [
      'No key yet? The server shows its first one when it starts for the first time, or writes it into ',
      h('code', null, 'initial-key'),
      ' in its data folder. Whoever runs the server makes more with ',
      h('code', null, 'umpire keys create --name playground'),
      '.',
    ]),
    h('p', null, 'The key stays in this browser and is sent to this server alone.'),
  ]);
}
