// What is kept of a result, and the result made of it again. Numbers alone: names of options are those of the job that
// asks, so no text of a caller is kept.

import { probabilitiesInOrder, toAnswer } from '../../domain/answer.ts';
import type { JobTimings } from '../../domain/usage.ts';
import type { EmbedResult, Job, JobResult, RerankResult, ResultSource } from '../engine.ts';

const NUMBER_BYTES = 8;
const CHARACTER_BYTES = 2;
/** An array or typed array without its content, and the place that holds it. */
const LIST_BYTES = 200;
const KEPT: ResultSource = { answer: 'kept', keptTokens: 0 };
/** Nothing was done for it. */
const NO_TIME: JobTimings = { queueMs: 0, tokenizeMs: 0, inferMs: 0 };

interface KeptDecision {
  /** `[questions][options]` */
  readonly probabilities: readonly Float64Array[];
  readonly inputTokens: number;
  readonly vector: Float32Array | undefined;
  readonly isBatched: boolean | undefined;
  readonly views: readonly Float32Array[] | undefined;
}

type KeptEmbeddings = Pick<EmbedResult, 'embeddings' | 'inputTokens' | 'truncated' | 'isBatched'>;

type KeptScores = Pick<RerankResult, 'scores' | 'inputTokens' | 'truncated' | 'isBatched'>;

export type KeptAnswer = KeptDecision | KeptEmbeddings | KeptScores;

export function toKept(result: JobResult): KeptAnswer {
  const { inputTokens } = result;
  if ('embeddings' in result) {
    const { embeddings, truncated, isBatched } = result;
    return { embeddings, inputTokens, truncated, ...(isBatched && { isBatched }) };
  }
  if ('scores' in result) {
    const { scores, truncated, isBatched } = result;
    return { scores, inputTokens, truncated, ...(isBatched && { isBatched }) };
  }
  const probabilities = result.answers.map((answer) => Float64Array.from(probabilitiesInOrder(answer)));
  const { vector, views, isBatched } = result;
  return { probabilities, inputTokens, vector, views, isBatched };
}

/** @param job the same as the one that was answered */
export function fromKept(kept: KeptAnswer, job: Job): JobResult | undefined {
  if (!('probabilities' in kept)) return { ...kept, timings: NO_TIME, source: KEPT };
  if (!('questions' in job)) return undefined;
  const { probabilities, inputTokens, vector, views, isBatched } = kept;
  const answers = job.questions.map((question, place) => toAnswer(question, [...(probabilities[place] ?? [])]));
  const asked = { answers, inputTokens, timings: NO_TIME, source: KEPT };
  return { ...asked, ...(vector && { vector }), ...(views && { views }), ...(isBatched && { isBatched }) };
}

export function bytesOfKept(kept: KeptAnswer): number {
  if ('probabilities' in kept) {
    const lists = [...kept.probabilities, ...(kept.views ?? []), ...(kept.vector === undefined ? [] : [kept.vector])];
    return lists.reduce((sum, { byteLength }) => sum + LIST_BYTES + byteLength, LIST_BYTES);
  }
  if ('scores' in kept) return 2 * LIST_BYTES + NUMBER_BYTES * (kept.scores.length + kept.truncated.length);
  return kept.embeddings.reduce(
    (sum, embedding) => {
      const content = typeof embedding === 'string' ? CHARACTER_BYTES * embedding.length : embedding.byteLength;
      return sum + LIST_BYTES + content;
    },
    LIST_BYTES + NUMBER_BYTES * kept.truncated.length,
  );
}
