// Whether a call is let into the queue: only if it fits and its work is expected to begin, and its answer to come, in
// time. Pure.

import type { WorkAhead } from './queue.ts';

export interface QueueLoad {
  /** Of all keys. */
  readonly jobs: number;
  readonly costMs: number;
  /** Of the caller's own key. */
  readonly keyJobs: number;
  readonly keyCostMs: number;
  /** Estimated worker time that goes before the new call. */
  readonly ahead: WorkAhead;
  /** Expected time until each worker is free, 0 for a free one; `[workers]`. */
  readonly workerBusyMs: readonly number[];
  /** Part of the workers' time that calls take which come later and go before this one; below 1. */
  readonly overtaking: number;
  /** How long that may go on: then the new call has waited too long to be overtaken. */
  readonly overtakenForMs: number;
  /** Estimated time that one worker does in a millisecond: 1 where estimates are right. */
  readonly drainRate: number;
}

/** The call that asks to be let in. */
export interface Newcomer {
  readonly costMs: number;
  /** From the begin of its work to its answer, when nothing comes between. */
  readonly durationMs: number;
  /** Within which the answer is wanted; undefined: whenever. */
  readonly deadlineMs: number | undefined;
}

export interface AdmissionLimits {
  readonly maxJobs: number;
  readonly maxCostMs: number;
  /** For the begin of work. */
  readonly deadlineMs: number;
}

/** `late`: the answer would come after the caller's own deadline. */
export type RefusalReason = 'jobs' | 'cost' | 'wait' | 'late';

export interface Refusal {
  readonly reason: RefusalReason;
  /** When what is queued now will have been worked off: queued cost ÷ drain rate. */
  readonly retryAfterMs: number;
}

const LEAST_RETRY_MS = 100;
/** One key may fill this part of the queue, so that there is always room for another's first call. */
const LARGEST_SHARE_OF_ONE_KEY = 0.5;
/**
 * What an expected time must leave of a deadline. Estimates of single calls are off by about a fifth, but what
 * waits is a sum of several, whose errors partly cancel, and other threads take their part of the cores: with a tenth,
 * answers at twice the load came up to 40 ms after a deadline of 200. And the answer's way out through HTTP.
 */
const MARGIN = 0.15;
const MARGIN_MS = 8;

/** Expected wait until work on the new call begins. */
export function expectedWaitMs({ ahead, workerBusyMs, overtaking, overtakenForMs, drainRate }: QueueLoad): number {
  // Work of others goes to whoever is free; a call of one's own holds one worker as long as others wait.
  const othersMs = ahead.othersMs / workerBusyMs.length;
  const freeMs = workerBusyMs.map((busyMs) => busyMs + othersMs);
  for (const costMs of ahead.ownMs) {
    const soonest = freeMs.indexOf(Math.min(...freeMs));
    freeMs[soonest] = (freeMs[soonest] ?? 0) + costMs;
  }
  const waitMs = Math.min(...freeMs) / drainRate;
  return Math.min(waitMs / (1 - overtaking), waitMs + overtaking * overtakenForMs);
}

/** When all that is queued or runs now will be done. */
export function expectedDrainMs({
  costMs,
  workerBusyMs,
  drainRate,
}: Pick<QueueLoad, 'costMs' | 'workerBusyMs' | 'drainRate'>): number {
  return (costMs + sum(workerBusyMs)) / workerBusyMs.length / drainRate;
}

/**
 * The queue's deadline is for the begin of work, not its end: a long document on an idle engine is always taken.
 * @returns undefined when the call may wait
 */
export function findRefusal(load: QueueLoad, newcomer: Newcomer, limits: AdmissionLimits): Refusal | undefined {
  const reason = findReason(load, newcomer, limits);
  if (reason === undefined) return undefined;
  return { reason, retryAfterMs: Math.max(LEAST_RETRY_MS, Math.ceil(expectedDrainMs(load))) };
}

function findReason(load: QueueLoad, newcomer: Newcomer, limits: AdmissionLimits): RefusalReason | undefined {
  const { costMs, durationMs, deadlineMs } = newcomer;
  if (isFull({ all: load.jobs, key: load.keyJobs, more: 1, limit: limits.maxJobs })) return 'jobs';
  if (isFull({ all: load.costMs, key: load.keyCostMs, more: costMs, limit: limits.maxCostMs })) return 'cost';
  const waitMs = expectedWaitMs(load);
  // An estimate may be wrong: a queue shorter than the workers are many is not refused on its word alone.
  const isShort = load.jobs < load.workerBusyMs.length;
  if (!isShort && waitMs * (1 + MARGIN) > limits.deadlineMs) return 'wait';
  if (deadlineMs === undefined) return undefined;
  const answerMs = waitMs + durationMs / load.drainRate;
  return answerMs * (1 + MARGIN) + MARGIN_MS > deadlineMs ? 'late' : undefined;
}

/** A key with nothing waiting is only refused when the whole queue is full: one call may be larger than any share. */
function isFull({ all, key, more, limit }: { all: number; key: number; more: number; limit: number }): boolean {
  const keyIsFull = key > 0 && key + more > limit * LARGEST_SHARE_OF_ONE_KEY;
  return keyIsFull || (all > 0 && all + more > limit);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
