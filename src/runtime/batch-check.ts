// Whether golden cases side by side in shared runs have the answers that each has alone: a model that disagrees with itself
// shares no run. Their times are where the engine's estimate of shared runs begins.

import { messageOf } from '../domain/errors.ts';
import { sum } from '../domain/sum.ts';
import { DeviceLost } from './device-faults.ts';
import { findTogether, type ModelFamily } from './family-tasks.ts';
import type { SharedCase } from './golden-runs.ts';
import type { TimedBatch } from './load-report.ts';
import type { TaskReply } from './messages.ts';

type RunTogether = NonNullable<ReturnType<typeof findTogether>>;

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

/** @param all golden cases, the first of which has run before @throws DeviceLost */
export async function checkTogether(family: ModelFamily, all: readonly SharedCase[]): Promise<CheckedBatches> {
  const together = findTogether(family);
  const cases = all.slice(0, MOST_CASES);
  if (together === undefined || cases.length === 0) return { batches: [] };
  try {
    return await compareBatches(together, cases);
  } catch (error) {
    if (error instanceof DeviceLost) throw error;
    // A graph that takes one row and no more, for one.
    return { batches: [], fault: `side by side they fail: ${messageOf(error)}` };
  }
}

async function compareBatches(together: RunTogether, cases: readonly SharedCase[]): Promise<CheckedBatches> {
  const alone: TaskReply[] = [];
  for (const { task } of cases) alone.push(...(await together([task])));
  const batches: TimedBatch[] = [];
  for (const count of new Set([1, Math.ceil(cases.length / 2), cases.length])) {
    const startedMs = performance.now();
    const replies = await together(cases.slice(0, count).map(({ task }) => task));
    batches.push({ tokens: sum(replies.map(tokensOf)), wallMs: performance.now() - startedMs });
    const shift = Math.max(...replies.map((reply, place) => largestShift(cases[place], alone[place], reply)));
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

function largestShift(shared: SharedCase | undefined, alone: TaskReply | undefined, beside: TaskReply): number {
  const [expected, found] = [alone, beside].map((reply) =>
    shared !== undefined && reply !== undefined && 'value' in reply ? shared.numbersOf(reply.value) : [],
  );
  if (expected === undefined || expected.length !== found?.length || expected.length === 0) return Number.NaN;
  return expected.reduce((most, value, at) => Math.max(most, Math.abs(value - (found[at] ?? Number.NaN))), 0);
}
