// What is kept of a result, and the result made of it again. Numbers alone: names of options are those of the job that
// asks, so no text of a caller is kept.

import { probabilitiesInOrder, toAnswer } from '../../domain/answer.ts';
import type { JobTimings } from '../../domain/usage.ts';
import type { DecideJob, DecideResult, EmbedResult, ResultSource } from '../engine.ts';

const NUMBER_BYTES = 8;
const CHARACTER_BYTES = 2;
/** An array or typed array without its content, and the place that holds it. */
const LIST_BYTES = 200;
const KEPT: ResultSource = { answer: 'kept', keptTokens: 0 };
/** Nothing was done for it. */
const NO_TIME: JobTimings = { queueMs: 0, tokenizeMs: 0, inferMs: 0 };

export interface KeptDecision {
  /** `[questions][options]` */
  readonly probabilities: readonly Float64Array[];
  readonly inputTokens: number;
}

export type KeptEmbeddings = Pick<EmbedResult, 'embeddings' | 'inputTokens' | 'truncated'>;

export function toKeptDecision({ answers, inputTokens }: DecideResult): KeptDecision {
  return { probabilities: answers.map((answer) => Float64Array.from(probabilitiesInOrder(answer))), inputTokens };
}

/** @param job the same as the one that was answered */
export function fromKeptDecision({ probabilities, inputTokens }: KeptDecision, { questions }: DecideJob): DecideResult {
  const answers = questions.map((question, place) => toAnswer(question, [...(probabilities[place] ?? [])]));
  return { answers, inputTokens, timings: NO_TIME, source: KEPT };
}

export function bytesOfDecision({ probabilities }: KeptDecision): number {
  return probabilities.reduce((sum, { length }) => sum + LIST_BYTES + NUMBER_BYTES * length, LIST_BYTES);
}

export function fromKeptEmbeddings(kept: KeptEmbeddings): EmbedResult {
  return { ...kept, timings: NO_TIME, source: KEPT };
}

export function bytesOfEmbeddings({ embeddings, truncated }: KeptEmbeddings): number {
  return embeddings.reduce(
    (sum, embedding) => {
      const content = typeof embedding === 'string' ? CHARACTER_BYTES * embedding.length : embedding.byteLength;
      return sum + LIST_BYTES + content;
    },
    LIST_BYTES + NUMBER_BYTES * truncated.length,
  );
}
