// Who is next: counting before all else, what was begun before what was not, decisions before embeddings, and inside a
// class the key that has had least of the workers' time. Pure: knows neither clock nor workers. A call is one entry with
// one or more parts, which are handed out one by one.

/**
 * `counting`: tokens only, a matter of milliseconds that the letting in of a request waits for; `continuation`: the rest
 * of a decision of which the first part is done.
 */
export type QueueClass = 'counting' | 'continuation' | 'decision' | 'embedding';

export interface QueueEntry {
  readonly keyId: string;
  readonly queueClass: QueueClass;
  /** Estimated worker time of each part, in the order they are handed out. At least one. */
  readonly partCostsMs: readonly number[];
}

export interface QueuePart<Entry extends QueueEntry> {
  readonly entry: Entry;
  /** Index into `partCostsMs`. */
  readonly part: number;
}

/** One key's entries, oldest first, and the worker time it has been given. */
interface Lane<Entry extends QueueEntry> {
  readonly waiting: Record<QueueClass, Waiting<Entry>[]>;
  readonly costMs: Record<QueueClass, number>;
  /** Virtual time: grows by the cost of each part handed out; never behind the queue's own when the lane wakes up. */
  virtualMs: number;
}

interface Waiting<Entry extends QueueEntry> {
  readonly entry: Entry;
  nextPart: number;
}

const CLASSES: readonly QueueClass[] = ['counting', 'continuation', 'decision', 'embedding'];

export class FairQueue<Entry extends QueueEntry> {
  private readonly lanes = new Map<string, Lane<Entry>>();
  /** Virtual time of the lane served last: where a key that had nothing waiting begins. */
  private virtualMs = 0;
  private jobs = 0;

  /** Entries of which a part still waits; of one key, or of all. */
  jobCount(keyId?: string): number {
    if (keyId === undefined) return this.jobs;
    const lane = this.lanes.get(keyId);
    return lane === undefined ? 0 : CLASSES.reduce((total, name) => total + lane.waiting[name].length, 0);
  }

  /** Estimated worker time of all waiting parts; of one key, or of all. */
  waitingCostMs(keyId?: string): number {
    const lanes = keyId === undefined ? [...this.lanes.values()] : [this.lanes.get(keyId)];
    return lanes.reduce((total, lane) => total + (lane === undefined ? 0 : sum(Object.values(lane.costMs))), 0);
  }

  /**
   * Estimated worker time that goes before a new entry: what its own key has waiting, of every other key at most as
   * much as its own key would have, and for an embedding all decisions.
   */
  costAheadMs({ keyId, queueClass, partCostsMs }: QueueEntry): number {
    const before = CLASSES.slice(0, CLASSES.indexOf(queueClass));
    const own = this.lanes.get(keyId)?.costMs[queueClass] ?? 0;
    const share = own + sum(partCostsMs);
    let aheadMs = own;
    for (const [laneKey, { costMs }] of this.lanes) {
      aheadMs += sum(before.map((name) => costMs[name]));
      if (laneKey !== keyId) aheadMs += Math.min(costMs[queueClass], share);
    }
    return aheadMs;
  }

  push(entry: Entry): void {
    const lane = this.laneOf(entry.keyId);
    if (isIdle(lane)) lane.virtualMs = Math.max(lane.virtualMs, this.virtualMs);
    lane.waiting[entry.queueClass].push({ entry, nextPart: 0 });
    this.jobs += 1;
    lane.costMs[entry.queueClass] += sum(entry.partCostsMs);
  }

  /** Takes the next part out; undefined when nothing waits. */
  take(): QueuePart<Entry> | undefined {
    for (const queueClass of CLASSES) {
      const lane = this.findFairest(queueClass);
      const waiting = lane?.waiting[queueClass][0];
      if (lane !== undefined && waiting !== undefined) return this.takeFrom(lane, waiting);
    }
    return undefined;
  }

  /** Takes an entry out with all parts that still wait. @returns false when none of it waits */
  remove(entry: Entry): boolean {
    const lane = this.lanes.get(entry.keyId);
    const waiting = lane?.waiting[entry.queueClass].find((candidate) => candidate.entry === entry);
    if (lane === undefined || waiting === undefined) return false;
    lane.costMs[entry.queueClass] -= sum(entry.partCostsMs.slice(waiting.nextPart));
    this.forget(lane, waiting);
    return true;
  }

  private takeFrom(lane: Lane<Entry>, waiting: Waiting<Entry>): QueuePart<Entry> {
    const { entry, nextPart } = waiting;
    const costMs = entry.partCostsMs[nextPart] ?? 0;
    this.virtualMs = Math.max(this.virtualMs, lane.virtualMs);
    lane.virtualMs += costMs;
    lane.costMs[entry.queueClass] -= costMs;
    waiting.nextPart += 1;
    if (waiting.nextPart >= entry.partCostsMs.length) this.forget(lane, waiting);
    return { entry, part: nextPart };
  }

  private forget(lane: Lane<Entry>, { entry }: Waiting<Entry>): void {
    const list = lane.waiting[entry.queueClass];
    list.splice(
      list.findIndex((candidate) => candidate.entry === entry),
      1,
    );
    // Sums of fractions drift; an empty list costs nothing.
    if (list.length === 0) lane.costMs[entry.queueClass] = 0;
    this.jobs -= 1;
    this.dropIdleLanes();
  }

  /** A lane behind the queue's own time would begin there anyway: nothing is lost by forgetting it. */
  private dropIdleLanes(): void {
    for (const [keyId, lane] of this.lanes) {
      if (isIdle(lane) && (this.jobs === 0 || lane.virtualMs <= this.virtualMs)) this.lanes.delete(keyId);
    }
  }

  private findFairest(queueClass: QueueClass): Lane<Entry> | undefined {
    let fairest: Lane<Entry> | undefined;
    for (const lane of this.lanes.values()) {
      if (lane.waiting[queueClass].length === 0) continue;
      if (fairest === undefined || lane.virtualMs < fairest.virtualMs) fairest = lane;
    }
    return fairest;
  }

  private laneOf(keyId: string): Lane<Entry> {
    const known = this.lanes.get(keyId);
    if (known !== undefined) return known;
    const lane = {
      waiting: { counting: [], continuation: [], decision: [], embedding: [] },
      costMs: { counting: 0, continuation: 0, decision: 0, embedding: 0 },
      virtualMs: this.virtualMs,
    };
    this.lanes.set(keyId, lane);
    return lane;
  }
}

function isIdle<Entry extends QueueEntry>({ waiting }: Lane<Entry>): boolean {
  return CLASSES.every((queueClass) => waiting[queueClass].length === 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
