// Whether a call is let into the queue: only if it fits and its work is expected to begin in time. Pure.

export interface QueueLoad {
  /** Of all keys. */
  readonly jobs: number;
  readonly costMs: number;
  /** Of the caller's own key. */
  readonly keyJobs: number;
  readonly keyCostMs: number;
  /** Estimated worker time that goes before the new call. */
  readonly aheadMs: number;
  /** Expected time until each worker is free, 0 for a free one; `[workers]`. */
  readonly workerBusyMs: readonly number[];
}

export interface AdmissionLimits {
  readonly maxJobs: number;
  readonly maxCostMs: number;
  readonly deadlineMs: number;
}

export interface Refusal {
  readonly reason: 'jobs' | 'cost' | 'deadline';
  /** When what is queued now will have been worked off: worker time ÷ workers. */
  readonly retryAfterMs: number;
}

const LEAST_RETRY_MS = 100;
/** One key may fill this part of the queue, so that there is always room for another's first call. */
const LARGEST_SHARE_OF_ONE_KEY = 0.5;

/** Expected wait until work on the new call begins. */
export function expectedWaitMs({ aheadMs, workerBusyMs }: QueueLoad): number {
  if (aheadMs === 0) return Math.min(...workerBusyMs);
  return (aheadMs + sum(workerBusyMs)) / workerBusyMs.length;
}

/**
 * The deadline is for the begin of work, not its end: a long document on an idle engine is always taken.
 * @returns undefined when the call may wait
 */
export function findRefusal(load: QueueLoad, costMs: number, limits: AdmissionLimits): Refusal | undefined {
  const drainMs = (load.costMs + sum(load.workerBusyMs)) / load.workerBusyMs.length;
  const retryAfterMs = Math.max(LEAST_RETRY_MS, Math.ceil(drainMs));
  if (isFull({ all: load.jobs, key: load.keyJobs, more: 1, limit: limits.maxJobs })) {
    return { reason: 'jobs', retryAfterMs };
  }
  if (isFull({ all: load.costMs, key: load.keyCostMs, more: costMs, limit: limits.maxCostMs })) {
    return { reason: 'cost', retryAfterMs };
  }
  // An estimate may be wrong: a queue shorter than the workers are many is not refused on its word alone.
  const isShort = load.jobs < load.workerBusyMs.length;
  if (!isShort && expectedWaitMs(load) > limits.deadlineMs) return { reason: 'deadline', retryAfterMs };
  return undefined;
}

/** A key with nothing waiting is only refused when the whole queue is full: one call may be larger than any share. */
function isFull({ all, key, more, limit }: { all: number; key: number; more: number; limit: number }): boolean {
  const keyIsFull = key > 0 && key + more > limit * LARGEST_SHARE_OF_ONE_KEY;
  return keyIsFull || (all > 0 && all + more > limit);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
