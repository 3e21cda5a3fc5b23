// What each worker does at the moment, when it is expected to be free, and which one a part goes to. Pure: time is handed
// in.

import type { Part } from './queued-ticket.ts';

export interface WorkerTimes {
  /** The one that has been idle longest first. At least one. */
  readonly idle: readonly number[];
  /** The others, with the time until each is expected to be free. */
  readonly busy: ReadonlyMap<number, number>;
}

interface Running {
  readonly startedMs: number;
  readonly costMs: number;
}

/** A run is late when it takes this many times its estimate, and the configured time on top. */
const LATE_FACTOR = 3;

export class RunningTasks {
  readonly #tasks = new Map<number, Running>();
  #idleWorkers: number[];

  constructor(workers: number) {
    this.#idleWorkers = Array.from({ length: workers }, (_, worker) => worker);
  }

  /** Workers with nothing to do, the one that has been idle longest first: so all caches are used. */
  get idle(): readonly number[] {
    return this.#idleWorkers;
  }

  begin(worker: number, task: Running): void {
    if (this.#tasks.has(worker)) throw new Error(`worker ${worker} was given two tasks`);
    this.#idleWorkers = this.#idleWorkers.filter((other) => other !== worker);
    this.#tasks.set(worker, task);
  }

  end(worker: number): void {
    this.#tasks.delete(worker);
    this.#idleWorkers.push(worker);
  }

  /** @param first the worker that is preferred among idle ones. Default: the one that has been idle longest */
  times(nowMs: number, first?: number): WorkerTimes {
    const busy = new Map([...this.#tasks].map(([worker, task]) => [worker, freeInMs(task, nowMs)]));
    const isFirstIdle = first !== undefined && this.#idleWorkers.includes(first);
    const idle = isFirstIdle ? [first, ...this.#idleWorkers.filter((worker) => worker !== first)] : this.#idleWorkers;
    return { idle, busy };
  }

  /** `[workers]`: time until each is expected to be free, 0 for a free one. */
  busyMs(nowMs: number): number[] {
    const busyMs = [...this.#tasks.values()].map(({ startedMs, costMs }) => Math.max(0, startedMs + costMs - nowMs));
    return [...busyMs, ...this.#idleWorkers.map(() => 0)];
  }

  lateMs(nowMs: number): number {
    const lateness = [...this.#tasks.values()].map(({ startedMs, costMs }) => nowMs - startedMs - LATE_FACTOR * costMs);
    return Math.max(0, ...lateness);
  }
}

/** A run past its estimate may well take as long again as it is late. */
function freeInMs({ startedMs, costMs }: Running, nowMs: number): number {
  return Math.abs(startedMs + costMs - nowMs);
}

/** One of the idle workers. @returns undefined when waiting for a busy one pays, which would be spared more */
export function chooseWorker(part: Pick<Part, 'savedMs' | 'mayWait'>, { idle, busy }: WorkerTimes): number | undefined {
  let best = idle[0];
  if (best === undefined) return undefined;
  let mostMs = part.savedMs(best);
  for (const worker of idle) {
    const savedMs = part.savedMs(worker);
    if (savedMs > mostMs) [best, mostMs] = [worker, savedMs];
  }
  if (!part.mayWait) return best;
  for (const [worker, freeInMs] of busy) if (part.savedMs(worker) - mostMs > freeInMs) return undefined;
  return best;
}
