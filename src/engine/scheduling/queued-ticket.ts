// Door of scheduling, beside scheduler.ts: what a ticket is to the queue and to the workers, from entering to its end. What
// its parts do, and what comes of them, the rooms know that make tickets.

import type { ReplyOf, Task } from '../../runtime/messages.ts';
import type { Caller, Ticket } from '../engine.ts';
import type { BatchShare } from './batching.ts';

/**
 * `counting`: tokens only, a matter of milliseconds that the letting in of a request waits for. `loading`: a model is
 * brought into a worker, which others wait for.
 */
export type QueueClass = 'counting' | 'loading' | 'decision' | 'embedding';

/** What one worker does of a ticket at a time: one task, and in the end its reply. */
export abstract class Part<T extends Task = Task> {
  /** Estimated worker time. */
  readonly costMs: number;
  /** Whether it may wait for a busy worker that is spared more time than the wait takes. */
  readonly mayWait: boolean = false;
  /** How much of a run it is that it may share with parts of other tickets; undefined: it runs by itself. */
  readonly batch: BatchShare | undefined;
  /** It shared runs with parts of others: its answer is right within the tolerance of these. */
  hadCompany = false;
  worker = -1;
  /** Time on that worker, thread crossings included. undefined: it had the cores of all, which tells nothing of one. */
  wallMs: number | undefined;
  #answer: ReplyOf[T['kind']] | undefined;

  constructor(costMs: number, batch?: BatchShare) {
    this.costMs = costMs;
    this.batch = batch;
  }

  /** Of a part that is done. */
  get reply(): ReplyOf[T['kind']] {
    if (this.#answer === undefined) throw new Error('this part of a ticket is not done');
    return this.#answer;
  }

  /** Estimated time that this worker is spared; Infinity: no other may run it. */
  savedMs(_worker: number): number {
    return 0;
  }

  /** Asked for once, when the part begins there. */
  abstract begin(worker: number): T;

  end(reply: ReplyOf[T['kind']], worker: number, wallMs: number | undefined): void {
    this.#answer = reply;
    this.worker = worker;
    this.wallMs = wallMs;
  }
}

/** What a ticket is to do. */
export interface PlannedWork {
  /** That may run at once. At least one. */
  readonly parts: readonly Part[];
  /** Estimated worker time of the parts that come when these are done; 0: none come. */
  readonly laterMs?: number;
  /** From the begin of the work to the answer when nothing comes between. Default: all parts one after the other. */
  readonly durationMs?: number;
}

export abstract class QueuedTicket<Result = unknown> implements Pick<Ticket<Result>, 'enter' | 'run'> {
  readonly caller: Caller;
  abstract readonly queueClass: QueueClass;
  /** Estimated worker time, and time from begin to answer. */
  costMs = 0;
  durationMs = 0;
  submittedMs = 0;
  /** When its work must begin to be done in time; undefined: no such time. */
  latestStartMs: number | undefined;
  /** Those that may run now, in the order in which they are handed out, and the first of them that was not. */
  parts: readonly Part[] = [];
  nextPart = 0;
  /** Estimated worker time of the parts that come later, and of all that were not handed out. */
  laterMs = 0;
  remainingMs = 0;
  runningParts = 0;
  /** Nothing of it begins any more. */
  isOver = false;
  /** It was let in: it waits, runs, or has ended. */
  isIn = false;
  /** A part of it was handed out. */
  hasBegun = false;
  /** Until work on the first part began; undefined: it has not. */
  queueMs: number | undefined;
  /** Ends the wait for a deadline, or for the caller to leave. */
  stopWatching: (() => void) | undefined;
  #doneParts = 0;
  readonly #outcome = Promise.withResolvers<unknown>();

  constructor(caller: Caller) {
    this.caller = caller;
    // It may fail before anybody waits for it.
    this.#outcome.promise.catch(() => undefined);
  }

  get keyId(): string {
    return this.caller.keyId;
  }

  get deadlineMs(): number | undefined {
    return this.caller.deadlineMs;
  }

  /** What there is to do is planned here, and submitted. */
  abstract enter(): void;

  async run(): Promise<Result> {
    this.enter();
    return (await this.#outcome.promise) as Result;
  }

  /** What it needs besides a worker is there: its work may begin, or has begun. */
  get mayRun(): boolean {
    return this.queueMs !== undefined || this.hasRoom();
  }

  /** Every part was handed out, and none come later. */
  get isSpent(): boolean {
    return this.nextPart >= this.parts.length && this.laterMs === 0;
  }

  protected plan({ parts, laterMs = 0, durationMs }: PlannedWork): void {
    this.#setParts(parts, laterMs);
    this.costMs = this.remainingMs;
    this.durationMs = durationMs ?? this.costMs;
  }

  handOut(): Part {
    const part = this.parts[this.nextPart];
    if (part === undefined) throw new Error('a ticket was asked for a part that it has not');
    this.nextPart += 1;
    this.hasBegun = true;
    this.remainingMs = Math.max(0, this.remainingMs - part.costMs);
    return part;
  }

  /** @returns true for the first part: from now on the ticket is worked on to its end */
  beginPart(nowMs: number): boolean {
    this.runningParts += 1;
    if (this.queueMs !== undefined) return false;
    this.queueMs = nowMs - this.submittedMs;
    this.takeRoom();
    return true;
  }

  /** @returns whether it was the last one: then `finish` is next */
  endPart(): boolean {
    this.runningParts -= 1;
    this.#doneParts += 1;
    if (this.isOver) this.#leave();
    if (this.isOver || this.#doneParts < this.parts.length) return false;
    try {
      const { parts, laterMs = 0 } = this.next();
      if (parts.length > 0) {
        this.#setParts(parts, laterMs);
        return false;
      }
    } catch (error) {
      this.fail(error);
      return false;
    }
    this.isOver = true;
    this.#leave();
    return true;
  }

  failPart(error: unknown): void {
    this.runningParts -= 1;
    this.fail(error);
  }

  /** Refused, dropped, or failed. */
  fail(error: unknown): void {
    this.isOver = true;
    this.#outcome.reject(error);
    this.#leave();
  }

  finish(): void {
    try {
      this.#outcome.resolve(this.collect());
    } catch (error) {
      this.#outcome.reject(error);
    }
  }

  /** What comes when all parts are done; no parts: that was all. */
  protected next(): PlannedWork {
    return { parts: [] };
  }

  protected abstract collect(): Result;

  protected hasRoom(): boolean {
    return true;
  }

  protected takeRoom(): void {
    // Most tickets need a worker and nothing else.
  }

  /** Nothing of it waits or runs any more, however it ended. */
  protected giveRoom(): void {
    // The same.
  }

  /** Parts of a ticket that failed may still be running. */
  #leave(): void {
    if (this.runningParts === 0) this.giveRoom();
  }

  #setParts(parts: readonly Part[], laterMs: number): void {
    this.parts = parts;
    this.nextPart = 0;
    this.#doneParts = 0;
    this.laterMs = laterMs;
    this.remainingMs = laterMs;
    for (const { costMs } of parts) this.remainingMs += costMs;
  }
}
