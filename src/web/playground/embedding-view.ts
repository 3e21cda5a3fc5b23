// The tab of embeddings: how near several texts are to each other, as a heat map.

import { computed, signal } from '@preact/signals';
import { h, type JSX, type TargetedEvent } from 'preact';
import { createLiveCall } from '../api/live-call.ts';
import { CodeSamples } from '../components/code-samples.ts';
import { FactList } from '../components/fact-list.ts';
import { embeddingSamples } from '../samples/openai-samples.ts';
import { chosenTab } from './chosen-tab.ts';
import { HeatMap } from './heat-map.ts';
import { KeyedErrorNotice, KeyGate } from './key-gate.ts';
import { findModel, keys } from './session.ts';
import { readVectors, similaritiesOf } from './similarities.ts';

/** A map of more is no longer read. */
const MAX_TEXTS = 16;
const USUAL_MODEL = 'text-embed-mini';

/** One text a line. */
export const embeddingLines = signal(`How do I get my money back?
What is your refund policy?
The parcel never arrived.
My order has not been delivered yet.
I can't sign in to my account.
The sunset over the harbour was beautiful.`);

const texts = computed(() =>
  embeddingLines.value
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, MAX_TEXTS),
);
const modelId = computed(() => findModel('embedding')?.id ?? USUAL_MODEL);
/** Nothing is asked behind another tab. */
const isShown = computed(() => chosenTab.value === 'embeddings');

const embeddings = createLiveCall({
  path: '/ai/v1/embeddings',
  isLive: isShown,
  request: computed(() => {
    const key = keys.key.value;
    if (key === undefined || findModel('embedding') === undefined || texts.value.length === 0) return undefined;
    const body = JSON.stringify({ model: modelId.value, input: texts.value });
    return { key, body, subject: texts.value };
  }),
});

export function EmbeddingView(): JSX.Element {
  const samples = embeddingSamples(location.origin, modelId.value, texts.value);
  return h('div', { class: 'workbench' }, [
    h('div', { class: 'column' }, [
      h('section', { class: 'panel' }, [
        h('h2', null, h('label', { for: 'texts' }, 'Texts, one a line')),
        h('textarea', {
          id: 'texts',
          rows: 10,
          value: embeddingLines.value,
          onInput: (event: TargetedEvent<HTMLTextAreaElement>) => {
            embeddingLines.value = event.currentTarget.value;
          },
        }),
        h('p', { class: 'soft' }, `${texts.value.length} of at most ${MAX_TEXTS} texts`),
      ]),
    ]),
    h('div', { class: 'column' }, [
      h('section', { class: 'panel', 'aria-labelledby': 'map-title' }, [
        h('h2', { id: 'map-title' }, 'How near they are'),
        h(KeyGate, { type: 'embedding', children: h(NewestMap, {}) }),
      ]),
      h('section', { class: 'panel', 'aria-labelledby': 'embedding-code-title' }, [
        h('h2', { id: 'embedding-code-title' }, 'This request as code'),
        h(CodeSamples, { samples }),
      ]),
    ]),
  ]);
}

function NewestMap(): JSX.Element {
  const newest = embeddings.answer.value;
  const isStale = embeddings.isAsking.value || embeddings.error.value !== undefined;
  return h('div', { class: 'answers' }, [
    h(KeyedErrorNotice, { error: embeddings.error.value }),
    newest &&
      h('div', { class: isStale ? 'answer-list is-stale' : 'answer-list' }, [
        h(HeatMap, { texts: newest.subject, similarities: similaritiesOf(readVectors(newest.reply.body)) }),
        h('p', { class: 'soft' }, 'The cosine of two vectors: 1 says the same, 0 has nothing in common.'),
        h(FactList, { reply: newest.reply }),
      ]),
    h('p', { class: 'for-ears', role: 'status' }, newest !== undefined && !isStale ? 'The map is up to date.' : ''),
  ]);
}
