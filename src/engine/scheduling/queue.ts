// Who is next: counting before all else, decisions before embeddings until those have waited long, between keys the one
// that has had least of the workers' time, and inside a key the call that is soonest done, until others lose patience. Pure:
// knows neither clock nor workers. A call is one entry; its parts are handed out one by one, and more may come when those are done.

import { sum } from '../../domain/sum.ts';

/** `counting`: tokens only, a matter of milliseconds that the letting in of a request waits for. */
export type QueueClass = 'counting' | 'decision' | 'embedding';

export interface QueueEntry {
  readonly keyId: string;
  readonly queueClass: QueueClass;
  readonly submittedMs: number;
  /** When its work must begin to be done in time; from then on it goes first in its lane. undefined: no such time. */
  readonly latestStartMs: number | undefined;
}

/** Estimated worker time of an entry. */
export interface EntryCosts {
  /** Of each part that may run now, in the order they are handed out. At least one. */
  readonly partsMs: readonly number[];
  /** Of the parts that come when these are done (`extend`); 0: none come. */
  readonly laterMs: number;
}

export interface QueuePart<Entry> {
  readonly entry: Entry;
  /** Index into `partsMs`. */
  readonly part: number;
}

/** Work that goes before a new entry. */
export interface WorkAhead {
  /** Of its own key: each entry's remaining worker time, next first. */
  readonly ownMs: readonly number[];
  /** Of all other keys together. */
  readonly othersMs: number;
}

/** Remaining worker time of calls that wait. */
export interface WaitingCosts {
  readonly ownMs: readonly number[];
  readonly othersMs: readonly number[];
  /** That have any. */
  readonly otherKeys: number;
}

interface Waiting<Entry> {
  readonly entry: Entry;
  partsMs: readonly number[];
  nextPart: number;
  hasBegun: boolean;
  laterMs: number;
  /** Of the parts that wait and those that come later. */
  remainingMs: number;
}

/** One key's entries, oldest first, and the worker time it has been given. */
interface Lane<Entry> {
  readonly waiting: Waiting<Entry>[];
  /** Virtual time: grows by the cost of each part handed out; never behind the queue's own when the lane wakes up. */
  virtualMs: number;
}

/**
 * A call is done within so many times the mean that calls take, where shortest-first can keep to it: from the last moment
 * on it goes before fresh ones. Simulated with 8 clients and work of all lengths (pooled-engine.patience.test.ts), beside
 * first-come-first-served: median 0.62 times, 99th percentile 1.32 times; with ageing alone 0.5 and 2.1 times.
 */
const PATIENCE = 2.1;
/** Before anything was measured. */
const FIRST_MEAN_MS = 250;
/** What older calls still weigh after a newer one: about fifty are remembered. */
const MEAN_MEMORY = 0.98;
/**
 * For calls longer than that: what a millisecond of waiting is worth against one of work that remains. Such a call is
 * overtaken by fresh short ones for at most four times its own length: enough that short calls hardly notice the documents
 * of others (with 1 a document of 0.8 s would take every worker after half a second), and few enough that a begun document
 * gives its memory back.
 */
export const AGEING = 0.25;
/** An embedding call that has waited this long competes with decisions. */
export const EMBEDDING_PATIENCE_MS = 1000;

/** Larger than any time, so that scores of calls whose time has come lie below all others. */
const BELOW_ALL = 1e12;

const RANKS = { counting: 0, decision: 1, embedding: 2 } as const;

export class FairQueue<Entry extends QueueEntry> {
  private readonly lanes = new Map<string, Lane<Entry>>();
  private readonly byEntry = new Map<Entry, Waiting<Entry>>();
  /** Virtual time of the lane served last: where a key that had nothing waiting begins. */
  private virtualMs = 0;
  /** Of decisions and of embeddings: what they take from coming to answer, with fading memory. */
  private readonly meanMs: Record<QueueClass, number> = {
    counting: FIRST_MEAN_MS,
    decision: FIRST_MEAN_MS,
    embedding: FIRST_MEAN_MS,
  };

  /** Nothing waits, and nothing is to come of what was begun. */
  get isEmpty(): boolean {
    return this.byEntry.size === 0;
  }

  /** Entries of which no part was handed out; of one key, or of all. */
  jobCount(keyId?: string): number {
    const entries = keyId === undefined ? this.byEntry.values() : (this.lanes.get(keyId)?.waiting ?? []);
    let jobs = 0;
    for (const { hasBegun } of entries) if (!hasBegun) jobs += 1;
    return jobs;
  }

  /** Estimated worker time of all waiting parts. */
  waitingCostMs(): number {
    let totalMs = 0;
    for (const { remainingMs } of this.byEntry.values()) totalMs += remainingMs;
    return totalMs;
  }

  /** The same of each call, apart for a key and all others. */
  waitingCosts(keyId: string): WaitingCosts {
    const ownMs: number[] = [];
    const othersMs: number[] = [];
    let otherKeys = 0;
    for (const [laneId, { waiting }] of this.lanes) {
      if (laneId !== keyId && waiting.length > 0) otherKeys += 1;
      for (const { remainingMs } of waiting) (laneId === keyId ? ownMs : othersMs).push(remainingMs);
    }
    return { ownMs, othersMs, otherKeys };
  }

  push(entry: Entry, { partsMs, laterMs }: EntryCosts): void {
    const lane = this.lanes.get(entry.keyId) ?? { waiting: [], virtualMs: this.virtualMs };
    this.lanes.set(entry.keyId, lane);
    if (lane.waiting.length === 0) lane.virtualMs = Math.max(lane.virtualMs, this.virtualMs);
    const waiting: Waiting<Entry> = {
      entry,
      partsMs,
      nextPart: 0,
      hasBegun: false,
      laterMs,
      remainingMs: sum(partsMs) + laterMs,
    };
    lane.waiting.push(waiting);
    this.byEntry.set(entry, waiting);
  }

  /** The parts that were to come later. At least one. @param laterMs of those that come after them; 0: none come */
  extend(entry: Entry, partsMs: readonly number[], laterMs = 0): void {
    const waiting = this.byEntry.get(entry);
    if (waiting === undefined) return;
    Object.assign(waiting, { partsMs, nextPart: 0, laterMs, remainingMs: sum(partsMs) + laterMs });
  }

  /**
   * Takes the next part out; undefined when none may run now.
   * @param mayRun whether the next part of an entry may run now; one that may not is passed over
   */
  take(nowMs: number, mayRun: (entry: Entry, part: number) => boolean = () => true): QueuePart<Entry> | undefined {
    let best: { lane: Lane<Entry>; waiting: Waiting<Entry>; rank: number; score: number } | undefined;
    for (const lane of this.lanes.values()) {
      for (const waiting of lane.waiting) {
        if (waiting.nextPart >= waiting.partsMs.length) continue;
        const rank = rankOf(waiting.entry, nowMs);
        const score = this.scoreOf(waiting.entry, waiting.remainingMs, nowMs);
        const isBetter =
          best === undefined ||
          rank < best.rank ||
          (rank === best.rank && (lane === best.lane ? score < best.score : lane.virtualMs < best.lane.virtualMs));
        if (isBetter && mayRun(waiting.entry, waiting.nextPart)) best = { lane, waiting, rank, score };
      }
    }
    return best === undefined ? undefined : this.takeFrom(best.lane, best.waiting);
  }

  /** A call has its answer. @param tookMs since it came */
  answered(queueClass: QueueClass, tookMs: number): void {
    this.meanMs[queueClass] = MEAN_MEMORY * this.meanMs[queueClass] + (1 - MEAN_MEMORY) * tookMs;
  }

  /** How long a call of such a length may be overtaken by shorter ones that come after it. */
  overtakenForMs(queueClass: QueueClass, costMs: number): number {
    const patienceMs = this.patienceMs(queueClass);
    return costMs > patienceMs ? costMs / AGEING : patienceMs - costMs;
  }

  private patienceMs(queueClass: QueueClass): number {
    return PATIENCE * this.meanMs[queueClass];
  }

  /** Lower goes first. */
  private scoreOf({ queueClass, submittedMs, latestStartMs }: QueueEntry, remainingMs: number, nowMs: number): number {
    // The most urgent of those that are: below every other score, in the order of their times.
    if (latestStartMs !== undefined && nowMs >= latestStartMs) return -2 * BELOW_ALL + latestStartMs;
    const [waitedMs, patienceMs] = [nowMs - submittedMs, this.patienceMs(queueClass)];
    if (remainingMs > patienceMs) return remainingMs - AGEING * waitedMs;
    const isDue = waitedMs + remainingMs >= patienceMs;
    return isDue ? -BELOW_ALL + submittedMs + remainingMs : remainingMs;
  }

  /** Takes an entry out with all parts that still wait. @returns false when nothing of it is here */
  remove(entry: Entry): boolean {
    const waiting = this.byEntry.get(entry);
    if (waiting === undefined) return false;
    this.forget(waiting);
    return true;
  }

  /**
   * What goes before a new entry: of its own key what would be taken first, of every other key at most as much as its own
   * key would have had by then.
   */
  workAhead(entry: QueueEntry, costMs: number, nowMs: number): WorkAhead {
    const rank = rankOf(entry, nowMs);
    const score = this.scoreOf(entry, costMs, nowMs);
    const own = (this.lanes.get(entry.keyId)?.waiting ?? [])
      .map((waiting) => ({
        ...waiting,
        rank: rankOf(waiting.entry, nowMs),
        score: this.scoreOf(waiting.entry, waiting.remainingMs, nowMs),
      }))
      .filter((other) => {
        if (other.rank !== rank) return other.rank < rank;
        return other.score <= score || isDueBefore(other.entry, entry);
      })
      .sort((a, b) => a.rank - b.rank || a.score - b.score);
    const ownMs = own.map(({ remainingMs }) => remainingMs);
    const shareMs = sum(own.map((other) => (other.rank === rank ? other.remainingMs : 0))) + costMs;
    let othersMs = 0;
    for (const [keyId, { waiting }] of this.lanes) {
      if (keyId === entry.keyId) continue;
      const costs = { before: 0, beside: 0 };
      for (const { entry: other, remainingMs } of waiting) {
        const otherRank = rankOf(other, nowMs);
        if (otherRank < rank) costs.before += remainingMs;
        if (otherRank === rank) costs.beside += remainingMs;
      }
      othersMs += costs.before + Math.min(costs.beside, shareMs);
    }
    return { ownMs, othersMs };
  }

  private takeFrom(lane: Lane<Entry>, waiting: Waiting<Entry>): QueuePart<Entry> {
    const { entry, nextPart: part } = waiting;
    const costMs = waiting.partsMs[part] ?? 0;
    this.virtualMs = Math.max(this.virtualMs, lane.virtualMs);
    lane.virtualMs += costMs;
    waiting.nextPart += 1;
    waiting.hasBegun = true;
    waiting.remainingMs = Math.max(0, waiting.remainingMs - costMs);
    if (waiting.nextPart >= waiting.partsMs.length && waiting.laterMs === 0) this.forget(waiting);
    return { entry, part };
  }

  private forget(waiting: Waiting<Entry>): void {
    this.byEntry.delete(waiting.entry);
    const lane = this.lanes.get(waiting.entry.keyId);
    lane?.waiting.splice(lane.waiting.indexOf(waiting), 1);
    if (lane?.waiting.length === 0) this.dropIdleLanes();
  }

  /** A lane behind the queue's own time would begin there anyway: nothing is lost by forgetting it. */
  private dropIdleLanes(): void {
    for (const [keyId, { waiting, virtualMs }] of this.lanes) {
      const isSpent = this.byEntry.size === 0 || virtualMs <= this.virtualMs;
      if (waiting.length === 0 && isSpent) this.lanes.delete(keyId);
    }
  }
}

function rankOf({ queueClass, submittedMs }: QueueEntry, nowMs: number): number {
  const isPatient = queueClass !== 'embedding' || nowMs - submittedMs < EMBEDDING_PATIENCE_MS;
  return isPatient ? RANKS[queueClass] : RANKS.decision;
}

/** Sooner or later it goes first: before the other's last moment comes its own. */
function isDueBefore({ latestStartMs }: QueueEntry, other: QueueEntry): boolean {
  return latestStartMs !== undefined && other.latestStartMs !== undefined && latestStartMs <= other.latestStartMs;
}
