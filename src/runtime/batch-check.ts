// Whether golden cases side by side in shared runs have the answers that each has alone: a model that disagrees with itself
// shares no run. Their times are where the engine's estimate of shared runs begins.

import { sum } from '../domain/sum.ts';
import { findTogether, type ModelFamily } from './family-tasks.ts';
import type { TimedBatch } from './load-report.ts';
import type { SharingTask, TaskReply } from './messages.ts';

/** By which an answer, or a number of a vector, may move because of its neighbours. */
const BATCH_TOLERANCE = 1e-3;

export interface CheckedBatches {
  /** None: its runs are not shared. */
  readonly batches: readonly TimedBatch[];
  /** Why not, where that is worth telling. */
  readonly fault?: string;
}

/** Of the golden cases: enough to see whether neighbours are felt, and no longer start than need be. */
const MOST_CASES = 8;

/** @param all golden cases, the first of which has run before */
export async function checkTogether(family: ModelFamily, all: readonly SharingTask[]): Promise<CheckedBatches> {
  const together = findTogether(family);
  const tasks = all.slice(0, MOST_CASES);
  if (together === undefined || tasks.length === 0) return { batches: [] };
  const alone: TaskReply[] = [];
  for (const task of tasks) alone.push(...(await together([task])));
  const batches: TimedBatch[] = [];
  for (const count of new Set([1, Math.ceil(tasks.length / 2), tasks.length])) {
    const some = tasks.slice(0, count);
    const startedMs = performance.now();
    const replies = await together(some);
    batches.push({ tokens: sum(replies.map(tokensOf)), wallMs: performance.now() - startedMs });
    const shift = Math.max(...replies.map((reply, place) => largestShift(alone[place], reply)));
    // Written so that NaN is a fault.
    if (!(shift <= BATCH_TOLERANCE)) {
      return {
        batches: [],
        fault: `answers move by ${shift.toFixed(4)} beside others; at most ${BATCH_TOLERANCE} is allowed`,
      };
    }
  }
  return { batches };
}

function tokensOf(reply: TaskReply): number {
  return 'value' in reply && 'inputTokens' in reply.value ? reply.value.inputTokens : 0;
}

function largestShift(alone: TaskReply | undefined, beside: TaskReply): number {
  const [expected, found] = [numbersOf(alone), numbersOf(beside)];
  if (expected.length !== found.length || expected.length === 0) return Number.NaN;
  return expected.reduce((most, value, at) => Math.max(most, Math.abs(value - (found[at] ?? Number.NaN))), 0);
}

function numbersOf(reply: TaskReply | undefined): number[] {
  if (reply === undefined || !('value' in reply)) return [];
  if ('probabilities' in reply.value) return reply.value.probabilities.flat();
  if (!('embeddings' in reply.value)) return [];
  return reply.value.embeddings.flatMap((vector) => (vector instanceof Float32Array ? [...vector] : []));
}
