// A reranking as rows: the query beside each document. Pure.

import type { ScorePairsTask } from '../../runtime/messages.ts';
import type { RerankJob, RerankResult } from '../engine.ts';
import { countPairs, lettersOfPairs, type Pairs, scorePairs } from './pair-tasks.ts';
import { type CommonResult, type FinishedRows, inRowOrder, type RowJob } from './row-job.ts';

export function rerankRows({ modelId, query, documents, truncate }: RerankJob): RowJob<ScorePairsTask> {
  const seconds = documents.map((second, place) => ({ place, second }));
  const pairs: Pairs = { modelId, first: query, seconds, truncate };
  return {
    queueClass: 'embedding',
    letters: lettersOfPairs(pairs),
    taskOf: (rows) => scorePairs(pairs, rows),
    countTasks: () => countPairs(pairs),
    toResult,
  };
}

function toResult(finished: readonly FinishedRows<ScorePairsTask>[], common: CommonResult): RerankResult {
  const logits = inRowOrder(
    finished,
    finished.map(({ reply }) => reply.logits),
  );
  const truncated = finished.flatMap(({ reply }) => reply.truncated ?? []).sort((a, b) => a - b);
  return { ...common, scores: logits.map(scoreOf), truncated };
}

/** A reranker gives one logit. */
function scoreOf([logit]: Float32Array): number {
  if (logit === undefined) throw new Error('a worker left out a score');
  return logit;
}
