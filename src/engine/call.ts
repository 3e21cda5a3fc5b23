// One call while it waits and runs: its parts, their results, and the promise its caller holds. Kinds of tasks are not
// told apart here.

import type { Task } from '../runtime/messages.ts';
import type { QueueClass, QueueEntry } from './queue.ts';

export interface CallPart {
  readonly task: Task;
  /** Estimated worker time. */
  readonly costMs: number;
}

export interface PartResult<Reply> {
  readonly reply: Reply;
  /** Time on the worker, thread crossings included. */
  readonly wallMs: number;
}

export interface CallResult<Reply> {
  /** `[parts]` */
  readonly parts: readonly PartResult<Reply>[];
  /** Until work on the first part began. */
  readonly queueMs: number;
}

export interface CallOptions {
  readonly keyId: string;
  readonly queueClass: QueueClass;
  readonly parts: readonly CallPart[];
  readonly submittedMs: number;
}

export class Call implements QueueEntry {
  readonly keyId: string;
  readonly queueClass: QueueClass;
  readonly parts: readonly CallPart[];
  readonly partCostsMs: readonly number[];
  private readonly outcome = Promise.withResolvers<CallResult<unknown>>();
  private readonly submittedMs: number;
  private readonly results: PartResult<unknown>[] = [];
  private finishedParts = 0;
  private queueMs: number | undefined;

  constructor({ keyId, queueClass, parts, submittedMs }: CallOptions) {
    this.keyId = keyId;
    this.queueClass = queueClass;
    this.parts = parts;
    this.partCostsMs = parts.map(({ costMs }) => costMs);
    this.submittedMs = submittedMs;
  }

  /** Resolves with the last part; rejects with the first failure. */
  get finished(): Promise<CallResult<unknown>> {
    return this.outcome.promise;
  }

  /** @returns true for the first part: from now on the call runs to its end */
  begin(nowMs: number): boolean {
    if (this.queueMs !== undefined) return false;
    this.queueMs = nowMs - this.submittedMs;
    return true;
  }

  succeed(part: number, result: PartResult<unknown>): void {
    this.results[part] = result;
    this.finishedParts += 1;
    if (this.finishedParts < this.parts.length) return;
    this.outcome.resolve({ parts: this.results, queueMs: this.queueMs ?? 0 });
  }

  fail(error: unknown): void {
    this.outcome.reject(error);
  }
}
