// One call while it waits and runs: its parts, what comes after them, their results, and the promise its caller holds.
// Kinds of tasks are not told apart here.

import type { Task } from '../../runtime/messages.ts';
import type { QueueClass, QueueEntry } from './queue.ts';

/** Where a part runs cheaper than elsewhere. */
export interface Routing {
  /** Estimated time that this worker is spared; Infinity: no other may run it. */
  savedMs(worker: number): number;
  /** Whether it may wait for a worker that saves more time than the wait takes. */
  readonly mayWait: boolean;
  /** The part begins there. */
  begin(worker: number): void;
}

export interface CallPart<T extends Task = Task> {
  /** Asked for once, when the part begins. */
  readonly task: () => T;
  /** Estimated worker time. */
  readonly costMs: number;
  readonly routing?: Routing | undefined;
}

export interface PartResult<Reply> {
  readonly reply: Reply;
  /** Time on the worker, thread crossings included. */
  readonly wallMs: number;
  readonly worker: number;
}

/** Parts that begin when all before them are done. */
export interface LaterParts {
  /** Estimated worker time of all. */
  readonly costMs: number;
  /** @param results of the parts before, in their order @returns at least one */
  readonly open: (results: readonly PartResult<unknown>[]) => readonly CallPart[];
  /** What comes after these. */
  readonly after?: LaterParts | undefined;
}

/** What a call needs besides a worker before it begins. */
export interface Gate {
  isOpen(): boolean;
  enter(): void;
  /** Nothing of the call waits or runs any more, however it ended. */
  leave(): void;
}

export interface CallResult {
  /** `[first parts]` */
  readonly first: readonly PartResult<unknown>[];
  /** `[later parts]`; none where none were announced. */
  readonly later: readonly PartResult<unknown>[];
  /** `[parts after those]`; none where none were announced. */
  readonly last: readonly PartResult<unknown>[];
  /** Until work on the first part began. */
  readonly queueMs: number;
}

export interface CallOptions {
  readonly keyId: string;
  readonly queueClass: QueueClass;
  readonly submittedMs: number;
  readonly latestStartMs: number | undefined;
  readonly parts: readonly CallPart[];
  readonly later?: LaterParts | undefined;
  readonly gate?: Gate | undefined;
}

export class Call implements QueueEntry {
  readonly keyId: string;
  readonly queueClass: QueueClass;
  readonly submittedMs: number;
  readonly latestStartMs: number | undefined;
  /** Those that may run now. */
  parts: readonly CallPart[];
  runningParts = 0;
  private readonly gate: Gate | undefined;
  private later: LaterParts | undefined;
  private readonly outcome = Promise.withResolvers<CallResult>();
  /** Of parts that are done as a whole. */
  private readonly stages: PartResult<unknown>[][] = [];
  private results: PartResult<unknown>[] = [];
  private finishedParts = 0;
  private queueMs: number | undefined;
  private isOver = false;

  constructor(options: CallOptions) {
    this.keyId = options.keyId;
    this.queueClass = options.queueClass;
    this.submittedMs = options.submittedMs;
    this.latestStartMs = options.latestStartMs;
    this.parts = options.parts;
    this.later = options.later;
    this.gate = options.gate;
  }

  /** Resolves with the last part; rejects with the first failure. */
  get finished(): Promise<CallResult> {
    return this.outcome.promise;
  }

  /** Whether all its parts are done. */
  isAnswered = false;

  /** Whether the work may begin, or has begun. */
  get isOpen(): boolean {
    return this.queueMs !== undefined || this.gate === undefined || this.gate.isOpen();
  }

  /** @returns true for the first part: from now on the call runs to its end */
  beginPart(nowMs: number): boolean {
    this.runningParts += 1;
    if (this.queueMs !== undefined) return false;
    this.queueMs = nowMs - this.submittedMs;
    this.gate?.enter();
    return true;
  }

  /** @returns the parts that come now, if these were all */
  succeed(part: number, result: PartResult<unknown>): readonly CallPart[] | undefined {
    this.runningParts -= 1;
    this.results[part] = result;
    this.finishedParts += 1;
    if (this.isOver) this.leave();
    if (this.isOver || this.finishedParts < this.parts.length) return undefined;
    if (this.later === undefined) {
      this.finish();
      return undefined;
    }
    const { open, after } = this.later;
    const { results } = this;
    this.stages.push(results);
    [this.results, this.finishedParts, this.later] = [[], 0, after];
    this.parts = open(results);
    return this.parts;
  }

  /** Estimated worker time of what comes after the parts that may run now. */
  get laterCostMs(): number {
    let costMs = 0;
    for (let { later } = this; later !== undefined; later = later.after) costMs += later.costMs;
    return costMs;
  }

  /** A part that ran failed. */
  failPart(error: unknown): void {
    this.runningParts -= 1;
    this.fail(error);
  }

  fail(error: unknown): void {
    this.isOver = true;
    this.outcome.reject(error);
    this.leave();
  }

  private finish(): void {
    this.isOver = true;
    this.isAnswered = true;
    const [first = [], later = [], last = []] = [...this.stages, this.results];
    this.leave();
    this.outcome.resolve({ first, later, last, queueMs: this.queueMs ?? 0 });
  }

  /** Parts of a call that failed may still be running. */
  private leave(): void {
    if (this.runningParts === 0) this.gate?.leave();
  }
}
