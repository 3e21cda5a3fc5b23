// Who is next: counting and loading before all else, decisions before embeddings until those have waited long, between keys the one
// that has had least of the workers' time, and inside a key the ticket that is soonest done, until others lose patience.
// Pure: knows neither clock nor workers. Parts of a ticket are handed out one by one; it stays until all of them are, and
// none come later.

import type { BatchedModel, BatchShare, WaitingParts } from './batching.ts';
import type { Part, QueueClass, QueuedTicket } from './queued-ticket.ts';

/** What a place in the queue depends on, besides the work that remains. */
export type QueuePlace = Pick<QueuedTicket, 'keyId' | 'queueClass' | 'submittedMs' | 'latestStartMs'>;

/** Work that goes before a new ticket. */
export interface WorkAhead {
  /** Of its own key: each ticket's remaining worker time, next first. */
  readonly ownMs: readonly number[];
  /** Of all other keys together. */
  readonly othersMs: number;
}

/** Remaining worker time of tickets that wait. */
export interface WaitingCosts {
  readonly ownMs: readonly number[];
  readonly othersMs: readonly number[];
  /** That have any. */
  readonly otherKeys: number;
}

/** One key's tickets, oldest first, and the worker time it has been given. */
interface Lane {
  readonly tickets: QueuedTicket[];
  /** Virtual time: grows by the cost of each part handed out; never behind the queue's own when the lane wakes up. */
  virtualMs: number;
}

/** One of a batch. */
export interface BatchedPart {
  readonly ticket: QueuedTicket;
  readonly part: Part;
}

/**
 * A ticket is done within so many times the mean that tickets take, where shortest-first can keep to it: from the last
 * moment on it goes before fresh ones. Simulated with 8 clients and work of all lengths (pooled-engine.patience.test.ts),
 * beside first-come-first-served: median 0.69 times, 99th percentile 1.32 times; with ageing alone 0.50 and 2.16 times.
 */
const PATIENCE = 2.1;
/**
 * Until then, a millisecond of waiting is worth this much of one of work: nothing between long and short, but tickets of nearly
 * one length go in the order they come. Without it, eight clients that ask the same had a 99th percentile of five times the
 * median (simulated; 1.2 with it).
 */
const PATIENT_AGEING = 0.1;
/** Before anything was measured. */
const FIRST_MEAN_MS = 250;
/** What older tickets still weigh after a newer one: about fifty are remembered. */
const MEAN_MEMORY = 0.98;
/**
 * For tickets longer than that: what a millisecond of waiting is worth against one of work that remains. Such a one is
 * overtaken by fresh short ones for at most four times its own length: enough that short ones hardly notice the documents
 * of others (with 1 a document of 0.8 s would take every worker after half a second), and few enough that a begun document
 * gives its memory back.
 */
export const AGEING = 0.25;
/** An embedding that has waited this long competes with decisions. */
export const EMBEDDING_PATIENCE_MS = 1000;

/** Larger than any time, so that scores of tickets whose time has come lie below all others. */
const BELOW_ALL = 1e12;

const RANKS = { counting: 0, loading: 0, decision: 1, embedding: 2 } as const;

export class FairQueue {
  readonly #lanes = new Map<string, Lane>();
  #size = 0;
  /** Virtual time of the lane served last: where a key that had nothing waiting begins. */
  #virtualMs = 0;
  /** What tickets take from coming to answer, with fading memory. */
  readonly #meanMs: Record<QueueClass, number> = {
    counting: FIRST_MEAN_MS,
    loading: FIRST_MEAN_MS,
    decision: FIRST_MEAN_MS,
    embedding: FIRST_MEAN_MS,
  };

  /** Nothing waits, and nothing is to come of what was begun. */
  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Tickets that wait, or of which something is to come. */
  get size(): number {
    return this.#size;
  }

  /** Tickets of which no part was handed out; of one key, or of all. */
  jobCount(keyId?: string): number {
    let jobs = 0;
    for (const [laneId, { tickets }] of this.#lanes) {
      if (keyId !== undefined && laneId !== keyId) continue;
      for (const { hasBegun } of tickets) if (!hasBegun) jobs += 1;
    }
    return jobs;
  }

  /** Estimated worker time of all waiting parts. */
  waitingCostMs(): number {
    let totalMs = 0;
    for (const { tickets } of this.#lanes.values()) for (const { remainingMs } of tickets) totalMs += remainingMs;
    return totalMs;
  }

  /** The same of each ticket, apart for a key and all others. */
  waitingCosts(keyId: string): WaitingCosts {
    const ownMs: number[] = [];
    const othersMs: number[] = [];
    let otherKeys = 0;
    for (const [laneId, { tickets }] of this.#lanes) {
      if (laneId !== keyId && tickets.length > 0) otherKeys += 1;
      for (const { remainingMs } of tickets) (laneId === keyId ? ownMs : othersMs).push(remainingMs);
    }
    return { ownMs, othersMs, otherKeys };
  }

  push(ticket: QueuedTicket): void {
    let lane = this.#lanes.get(ticket.keyId);
    if (lane === undefined) {
      lane = { tickets: [], virtualMs: this.#virtualMs };
      this.#lanes.set(ticket.keyId, lane);
    }
    if (lane.tickets.length === 0) lane.virtualMs = Math.max(lane.virtualMs, this.#virtualMs);
    lane.tickets.push(ticket);
    this.#size += 1;
  }

  /**
   * The ticket whose next part is next; undefined when none may run now.
   * @param mayRun whether its next part may run now; one that may not is passed over
   */
  find(nowMs: number, mayRun: (ticket: QueuedTicket) => boolean = () => true): QueuedTicket | undefined {
    let best: { lane: Lane; ticket: QueuedTicket; rank: number; score: number } | undefined;
    for (const lane of this.#lanes.values()) {
      for (const ticket of lane.tickets) {
        if (ticket.nextPart >= ticket.parts.length) continue;
        const rank = rankOf(ticket, nowMs);
        const score = this.#scoreOf(ticket, ticket.remainingMs, nowMs);
        const isBetter =
          best === undefined ||
          rank < best.rank ||
          (rank === best.rank && (lane === best.lane ? score < best.score : lane.virtualMs < best.lane.virtualMs));
        if (isBetter && mayRun(ticket)) best = { lane, ticket, rank, score };
      }
    }
    return best?.ticket;
  }

  /** Takes the next part out of a ticket that was found. */
  handOut(ticket: QueuedTicket): Part {
    const part = ticket.handOut();
    const lane = this.#lanes.get(ticket.keyId);
    if (lane !== undefined) {
      this.#virtualMs = Math.max(this.#virtualMs, lane.virtualMs);
      lane.virtualMs += part.costMs;
    }
    if (ticket.isSpent) this.remove(ticket);
    return part;
  }

  /** Parts that may share a run of this model now. */
  waitingFor(model: BatchedModel, nowMs: number): WaitingParts {
    let [tokens, waitedMs] = [0, 0];
    for (const { tickets } of this.#lanes.values()) {
      for (const ticket of tickets) {
        if (shareOf(ticket, model) === undefined || !ticket.mayRun) continue;
        for (const part of ticket.parts.slice(ticket.nextPart)) tokens += part.batch?.tokens ?? 0;
        waitedMs = Math.max(waitedMs, nowMs - ticket.submittedMs);
      }
    }
    return { tokens, waitedMs };
  }

  /** As many of them as fit into one batch, in the order in which `find` would give them; at least one where any waits. */
  handOutBatch(model: BatchedModel, nowMs: number): BatchedPart[] {
    const batch: BatchedPart[] = [];
    let tokens = 0;
    const waiting = [...this.#lanes.values()].map((lane) => ({ lane, tickets: this.#ordered(lane, model, nowMs) }));
    for (;;) {
      const next = waiting.reduce<(typeof waiting)[number] | undefined>((best, each) => {
        const [rank, least] = [each.tickets[0]?.rank ?? Infinity, best?.tickets[0]?.rank ?? Infinity];
        const isBetter = rank < least || (rank === least && each.lane.virtualMs < (best?.lane.virtualMs ?? Infinity));
        return rank < Infinity && isBetter ? each : best;
      }, undefined);
      const ticket = next?.tickets[0]?.ticket;
      if (next === undefined || ticket === undefined) return batch;
      const share = shareOf(ticket, model);
      if (share === undefined) {
        next.tickets.shift();
      } else if (batch.length > 0 && tokens + share.tokens > model.limits.tokens) {
        // What is too long now is first in the next batch.
        next.tickets.length = 0;
      } else {
        tokens += share.tokens;
        batch.push({ ticket, part: this.handOut(ticket) });
      }
    }
  }

  #ordered(lane: Lane, model: BatchedModel, nowMs: number) {
    return lane.tickets
      .filter((ticket) => ticket.mayRun && shareOf(ticket, model) !== undefined)
      .map((ticket) => {
        return { ticket, rank: rankOf(ticket, nowMs), score: this.#scoreOf(ticket, ticket.remainingMs, nowMs) };
      })
      .sort((a, b) => a.rank - b.rank || a.score - b.score);
  }

  /** A ticket has its answer. @param tookMs since it came */
  answered(queueClass: QueueClass, tookMs: number): void {
    this.#meanMs[queueClass] = MEAN_MEMORY * this.#meanMs[queueClass] + (1 - MEAN_MEMORY) * tookMs;
  }

  /** How long a ticket of such a length may be overtaken by shorter ones that come after it. */
  overtakenForMs(queueClass: QueueClass, costMs: number): number {
    const patienceMs = this.#patienceMs(queueClass);
    return costMs > patienceMs ? costMs / AGEING : patienceMs - costMs;
  }

  /** Takes a ticket out with all parts that still wait. @returns false when it is not here */
  remove(ticket: QueuedTicket): boolean {
    const lane = this.#lanes.get(ticket.keyId);
    const at = lane?.tickets.indexOf(ticket) ?? -1;
    if (lane === undefined || at < 0) return false;
    lane.tickets.splice(at, 1);
    this.#size -= 1;
    if (lane.tickets.length === 0) this.#dropIdleLanes();
    return true;
  }

  /**
   * What goes before a new ticket: of its own key what would be taken first, of every other key at most as much as its own
   * key would have had by then.
   */
  workAhead(place: QueuePlace, costMs: number, nowMs: number): WorkAhead {
    const rank = rankOf(place, nowMs);
    const score = this.#scoreOf(place, costMs, nowMs);
    const own = (this.#lanes.get(place.keyId)?.tickets ?? [])
      .map((ticket) => ({
        rank: rankOf(ticket, nowMs),
        score: this.#scoreOf(ticket, ticket.remainingMs, nowMs),
        remainingMs: ticket.remainingMs,
        isDueBefore: isDueBefore(ticket, place),
      }))
      .filter((other) => (other.rank === rank ? other.score <= score || other.isDueBefore : other.rank < rank))
      .sort((a, b) => a.rank - b.rank || a.score - b.score);
    const ownMs = own.map(({ remainingMs }) => remainingMs);
    let shareMs = costMs;
    for (const other of own) if (other.rank === rank) shareMs += other.remainingMs;
    let othersMs = 0;
    for (const [keyId, { tickets }] of this.#lanes) {
      if (keyId === place.keyId) continue;
      let besideMs = 0;
      for (const other of tickets) {
        const otherRank = rankOf(other, nowMs);
        if (otherRank < rank) othersMs += other.remainingMs;
        if (otherRank === rank) besideMs += other.remainingMs;
      }
      othersMs += Math.min(besideMs, shareMs);
    }
    return { ownMs, othersMs };
  }

  #patienceMs(queueClass: QueueClass): number {
    return PATIENCE * this.#meanMs[queueClass];
  }

  /** Lower goes first. */
  #scoreOf({ queueClass, submittedMs, latestStartMs }: QueuePlace, remainingMs: number, nowMs: number): number {
    // The most urgent of those that are: below every other score, in the order of their times.
    if (latestStartMs !== undefined && nowMs >= latestStartMs) return -2 * BELOW_ALL + latestStartMs;
    const [waitedMs, patienceMs] = [nowMs - submittedMs, this.#patienceMs(queueClass)];
    if (remainingMs > patienceMs) return remainingMs - AGEING * waitedMs;
    const isDue = waitedMs + remainingMs >= patienceMs;
    return isDue ? -BELOW_ALL + submittedMs + remainingMs : remainingMs - PATIENT_AGEING * waitedMs;
  }

  /** A lane behind the queue's own time would begin there anyway: nothing is lost by forgetting it. */
  #dropIdleLanes(): void {
    for (const [keyId, { tickets, virtualMs }] of this.#lanes) {
      const isBehind = this.#size === 0 || virtualMs <= this.#virtualMs;
      if (tickets.length === 0 && isBehind) this.#lanes.delete(keyId);
    }
  }
}

/** Of its next part; undefined: it has none that may share a run of this model. */
function shareOf({ parts, nextPart }: QueuedTicket, model: BatchedModel): BatchShare | undefined {
  const share = parts[nextPart]?.batch;
  return share?.model === model ? share : undefined;
}

function rankOf({ queueClass, submittedMs }: QueuePlace, nowMs: number): number {
  const isPatient = queueClass !== 'embedding' || nowMs - submittedMs < EMBEDDING_PATIENCE_MS;
  return isPatient ? RANKS[queueClass] : RANKS.decision;
}

/** Sooner or later it goes first: before the other's last moment comes its own. */
function isDueBefore({ latestStartMs }: QueuePlace, other: QueuePlace): boolean {
  return latestStartMs !== undefined && other.latestStartMs !== undefined && latestStartMs <= other.latestStartMs;
}
