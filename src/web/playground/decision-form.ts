// The state of the decisions: what the form holds, the request that it makes, and the newest answer.

import { computed, signal } from '@preact/signals-core';
import { createLiveCall } from '../api/live-call.ts';
import { EXAMPLES } from './examples.ts';
import { findGap, newDraft, type QuestionDraft, readDrafts, writeDrafts } from './question-draft.ts';
import { findModel, keys } from './session.ts';

/** Until the server has said which there are. */
const USUAL_MODEL = 'kev';
const [FIRST_EXAMPLE] = EXAMPLES;

export const decisionModel = signal<string | undefined>();
export const documentText = signal(FIRST_EXAMPLE.document);
export const drafts = signal<readonly QuestionDraft[]>(readDrafts(FIRST_EXAMPLE.questions));
/** What is still to be said in an example that grows. */
export const nextLines = signal<readonly string[]>([]);
/** Probability from which one would act without a look. */
export const threshold = signal(0.8);
export const isLive = signal(true);
/** Why the JSON of the questions cannot be read; nothing is asked meanwhile. */
export const draftsError = signal<unknown>();

export const modelId = computed(() => findModel('decision', decisionModel.value)?.id ?? USUAL_MODEL);

/** Which questions cannot be asked yet, and why, by their ids. */
export const gaps = computed(
  () =>
    new Map(
      drafts.value.flatMap((draft): [number, string][] => {
        const gap = findGap(draft, drafts.value);
        return gap === undefined ? [] : [[draft.id, gap]];
      }),
    ),
);

/** The request as it is sent. */
const decisionBody = computed(
  () =>
    `{"model": ${JSON.stringify(modelId.value)}, "state": ${JSON.stringify(documentText.value)}, "questions": ${writeDrafts(drafts.value)}}`,
);

const isComplete = computed(() => draftsError.value === undefined && drafts.value.length > 0 && gaps.value.size === 0);

export const decisions = createLiveCall({
  path: '/ai/v1/systemone',
  isLive,
  request: computed(() => {
    const key = keys.key.value;
    const isKnown = findModel('decision') !== undefined;
    if (key === undefined || !isKnown || !isComplete.value) return undefined;
    return { key, body: decisionBody.value, subject: drafts.value };
  }),
});

export interface DecisionSetup {
  readonly document: string;
  /** JSON, as in a request. */
  readonly questions: string;
  readonly nextLines?: readonly string[];
}

/** @throws DraftError, JsonSyntaxError: nothing is changed then */
export function fillIn(setup: DecisionSetup): void {
  drafts.value = readDrafts(setup.questions);
  documentText.value = setup.document;
  nextLines.value = setup.nextLines ?? [];
  draftsError.value = undefined;
}

export function addNextLine(): void {
  const [line, ...rest] = nextLines.value;
  if (line === undefined) return;
  documentText.value = `${documentText.value}\n${line}`;
  nextLines.value = rest;
}

export function changeDraft(id: number, change: Partial<Omit<QuestionDraft, 'id'>>): void {
  drafts.value = drafts.value.map((draft) => (draft.id === id ? { ...draft, ...change } : draft));
}

export function removeDraft(id: number): void {
  drafts.value = drafts.value.filter((draft) => draft.id !== id);
}

export function addDraft(): void {
  const taken = new Set(drafts.value.map(({ name }) => name));
  let number = drafts.value.length + 1;
  while (taken.has(`question_${number}`)) number += 1;
  drafts.value = [...drafts.value, newDraft({ name: `question_${number}` })];
}
