// Whether a ticket is let into the queue: only if it fits and its work is expected to begin, and its answer to come, in
// time. Pure.

import { sum } from '../../domain/sum.ts';
import type { RefusalReason } from '../engine.ts';
import type { WorkAhead } from './queue.ts';
import type { QueuedTicket } from './queued-ticket.ts';

export interface QueueLoad {
  /** Of all keys. */
  readonly jobs: number;
  /** Of the caller's own key. */
  readonly keyJobs: number;
  /** Remaining worker time of each ticket that waits. */
  readonly keyCostsMs: readonly number[];
  /** The same of all other keys, and how many these are. */
  readonly otherCostsMs: readonly number[];
  readonly otherKeys: number;
  /** Estimated worker time that goes before the new ticket. */
  readonly ahead: WorkAhead;
  /** Expected time until each worker is free, 0 for a free one; `[workers]`. */
  readonly workerBusyMs: readonly number[];
  /** Part of the workers' time that calls take which come later and go before this one; below 1. */
  readonly overtaking: number;
  /** How long that may go on: then the new ticket has waited too long to be overtaken. */
  readonly overtakenForMs: number;
  /** Estimated time that one worker does in a millisecond: 1 where estimates are right. */
  readonly drainRate: number;
}

/** What a ticket asks of the workers, and within what time. */
type Estimated = Pick<QueuedTicket, 'costMs' | 'durationMs' | 'deadlineMs'>;

export interface AdmissionLimits {
  /** Calls that may wait at once. */
  readonly maxJobs: number;
  /** Estimated worker time that may wait at once. */
  readonly maxCostMs: number;
  /** Longest wait before work on a call begins; a call that cannot meet it is refused as `overloaded`. */
  readonly deadlineMs: number;
}

export interface Refusal {
  readonly reason: RefusalReason;
  /** When work on it could begin, and there is room for it in its key's part of the queue. */
  readonly retryAfterMs: number;
}

const LEAST_RETRY_MS = 100;
const ROOM_PRECISION_MS = 10;
/** One key may fill this part of what others leave of the queue, so that there is always room for another's first ticket. */
const LARGEST_SHARE_OF_ONE_KEY = 0.5;
/**
 * One ticket counts for this part of the queue at most. It runs in slices between which others go, so what it costs beyond
 * that holds up nobody; counted whole, one ticket would close the queue to all.
 */
const LARGEST_SHARE_OF_ONE_CALL = 0.25;
/**
 * What an expected time must leave of a deadline. Estimates of single calls are off by about a fifth, but what
 * waits is a sum of several, whose errors partly cancel, and other threads take their part of the cores: with a tenth,
 * answers at twice the load came up to 40 ms after a deadline of 200. And the answer's way out through HTTP.
 */
const MARGIN = 0.15;
const MARGIN_MS = 8;

/** Expected wait until work on the new ticket begins. */
export function expectedWaitMs({ ahead, workerBusyMs, overtaking, overtakenForMs, drainRate }: QueueLoad): number {
  // Work of others goes to whoever is free; a ticket of one's own holds one worker as long as others wait.
  const othersMs = ahead.othersMs / workerBusyMs.length;
  const freeMs = workerBusyMs.map((busyMs) => busyMs + othersMs);
  for (const costMs of ahead.ownMs) takeSoonest(freeMs, costMs);
  const waitMs = Math.min(...freeMs) / drainRate;
  return Math.min(waitMs / (1 - overtaking), waitMs + overtaking * overtakenForMs);
}

/** When all that is queued or runs now will be done. */
export function expectedDrainMs({
  costMs,
  workerBusyMs,
  drainRate,
}: Pick<QueueLoad, 'workerBusyMs' | 'drainRate'> & { readonly costMs: number }): number {
  return (costMs + sum(workerBusyMs)) / workerBusyMs.length / drainRate;
}

/**
 * The queue's deadline is for the begin of work, not its end: a long document on an idle engine is always taken.
 * @returns undefined when the ticket may wait
 */
export function findRefusal(load: QueueLoad, ticket: Estimated, limits: AdmissionLimits): Refusal | undefined {
  const reason = findReason(load, ticket, limits);
  if (reason === undefined) return undefined;
  const roomMs = expectedRoomMs(load, ticket, limits);
  return { reason, retryAfterMs: Math.max(LEAST_RETRY_MS, Math.ceil(Math.max(expectedWaitMs(load), roomMs))) };
}

function findReason(load: QueueLoad, ticket: Estimated, limits: AdmissionLimits): RefusalReason | undefined {
  const { costMs, durationMs, deadlineMs } = ticket;
  if (hasTooManyJobs(load, limits)) return 'jobs';
  if (excessMs(load, costMs, limits) > 0) return 'cost';
  const waitMs = expectedWaitMs(load);
  // An estimate may be wrong: a queue shorter than the workers are many is not refused on its word alone.
  const isShort = load.jobs < load.workerBusyMs.length;
  if (!isShort && waitMs * (1 + MARGIN) > limits.deadlineMs) return 'wait';
  if (deadlineMs === undefined) return undefined;
  const answerMs = waitMs + durationMs / load.drainRate;
  return answerMs * (1 + MARGIN) + MARGIN_MS > deadlineMs ? 'late' : undefined;
}

function hasTooManyJobs({ jobs, keyJobs }: QueueLoad, { maxJobs }: AdmissionLimits): boolean {
  return (keyJobs > 0 && keyJobs + 1 > maxJobs * LARGEST_SHARE_OF_ONE_KEY) || (jobs > 0 && jobs + 1 > maxJobs);
}

/**
 * By how much a ticket would pass its key's part of the queue: a share of what others leave, and where those have filled it,
 * an equal part for each. The first ticket of a key always has room: whether it can begin in time is asked apart.
 */
function excessMs(load: QueueLoad, costMs: number, { maxCostMs }: AdmissionLimits): number {
  const { keyCostsMs, otherCostsMs, otherKeys } = load;
  if (keyCostsMs.length === 0) return 0;
  const largestMs = maxCostMs * LARGEST_SHARE_OF_ONE_CALL;
  const count = (costsMs: readonly number[]): number => sum(costsMs.map((ms) => Math.min(ms, largestMs)));
  const leftMs = (maxCostMs - count(otherCostsMs)) * LARGEST_SHARE_OF_ONE_KEY;
  return count([...keyCostsMs, costMs]) - Math.max(leftMs, maxCostMs / (otherKeys + 2));
}

/** Until the calls of its own key, the shortest first and one worker for each, have made room for it. */
function expectedRoomMs(load: QueueLoad, { costMs }: Estimated, limits: AdmissionLimits): number {
  const missingMs = excessMs(load, costMs, limits);
  if (missingMs <= 0) return 0;
  const largestMs = limits.maxCostMs * LARGEST_SHARE_OF_ONE_CALL;
  const freeMs = load.workerBusyMs.map(() => 0);
  const calls = load.keyCostsMs
    .toSorted((a, b) => a - b)
    .map((ownMs) => ({ endMs: takeSoonest(freeMs, ownMs), countedMs: Math.min(ownMs, largestMs) }));
  const roomAt = (atMs: number): number =>
    sum(calls.map(({ endMs, countedMs }) => Math.min(countedMs, Math.max(0, atMs - endMs + countedMs))));
  let [tooSoonMs, roomMs] = [0, Math.max(...freeMs)];
  while (roomMs - tooSoonMs > ROOM_PRECISION_MS) {
    const middleMs = (tooSoonMs + roomMs) / 2;
    if (roomAt(middleMs) < missingMs) tooSoonMs = middleMs;
    else roomMs = middleMs;
  }
  return roomMs / load.drainRate;
}

/** @returns when the ticket ends that goes to the worker which is free first */
function takeSoonest(freeMs: number[], costMs: number): number {
  const soonest = freeMs.indexOf(Math.min(...freeMs));
  const endMs = (freeMs[soonest] ?? 0) + costMs;
  freeMs[soonest] = endMs;
  return endMs;
}
