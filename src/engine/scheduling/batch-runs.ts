// Parts of several tickets as one task of a worker: when it begins, and what becomes of each when it ends.

import type { Clock } from '../../domain/clock.ts';
import { fromErrorRecord } from '../../domain/errors.ts';
import { sum } from '../../domain/sum.ts';
import type { SharedReply, SharedTask, SharingTask } from '../../runtime/messages.ts';
import { type BatchedModel, untilBatchMs } from './batching.ts';
import type { DrainRate } from './drain-rate.ts';
import type { BatchedPart, FairQueue } from './queue.ts';
import type { QueuedTicket } from './queued-ticket.ts';

export interface BatchRunsOptions {
  readonly queue: FairQueue;
  readonly clock: Clock;
  readonly drainRate: DrainRate;
  readonly runTask: (task: SharedTask, worker: number, costMs: number) => Promise<SharedReply>;
  /** Has the queue looked at again after so long. */
  readonly lookAgain: (afterMs: number) => void;
  /** Has it looked at now. */
  readonly pump: () => void;
}

export class BatchRuns {
  readonly #options: BatchRunsOptions;
  #running = 0;
  /** Since the last look: the queue is gone through once for each model. */
  readonly #begins = new Map<BatchedModel, boolean>();

  constructor(options: BatchRunsOptions) {
    this.#options = options;
  }

  lookAnew(): void {
    this.#begins.clear();
  }

  /** Whether a batch of this model begins now. @param model undefined: of a part that runs by itself */
  mayBegin(model: BatchedModel | undefined, nowMs: number): boolean {
    if (model === undefined) return true;
    const known = this.#begins.get(model);
    if (known !== undefined) return known;
    const { queue, lookAgain } = this.#options;
    const afterMs = untilBatchMs(queue.waitingFor(model, nowMs), this.#running, model.limits);
    if (afterMs > 0 && afterMs < Infinity) lookAgain(afterMs);
    this.#begins.set(model, afterMs === 0);
    return afterMs === 0;
  }

  /** Takes what fits out of the queue and runs it. Each part has a reply of its own, or a failure. */
  async run(model: BatchedModel, worker: number): Promise<void> {
    const { queue, clock, runTask, pump } = this.#options;
    const startedMs = clock.nowMs();
    const batch = queue.handOutBatch(model, startedMs);
    const tokens = sum(batch.map(({ part }) => part.batch?.tokens ?? 0));
    const costMs = model.time.batchMs(tokens);
    for (const { ticket } of batch) if (ticket.beginPart(startedMs)) ticket.stopWatching?.();
    this.#begins.clear();
    this.#running += 1;
    let done: readonly QueuedTicket[] = [];
    try {
      // Only what may share runs has a share of a batch.
      const tasks = batch.map(({ part }) => part.begin(worker) as SharingTask);
      const { replies } = await runTask({ kind: 'batch', modelId: model.modelId, tasks }, worker, costMs);
      const wallMs = clock.nowMs() - startedMs;
      model.time.observe(tokens, wallMs);
      this.#options.drainRate.observe(costMs, wallMs);
      done = endParts(batch, replies, worker);
    } catch (error) {
      for (const { ticket } of batch) ticket.failPart(error);
    }
    this.#running -= 1;
    for (const { queueClass, submittedMs } of done) queue.answered(queueClass, clock.nowMs() - submittedMs);
    for (const { ticket } of batch) if (ticket.isOver) queue.remove(ticket);
    pump();
    for (const ticket of done) ticket.finish();
  }
}

/** @returns tickets of which that was the last part */
function endParts(batch: readonly BatchedPart[], replies: SharedReply['replies'], worker: number): QueuedTicket[] {
  const done: QueuedTicket[] = [];
  for (const [place, { ticket, part }] of batch.entries()) {
    const reply = replies[place];
    if (reply === undefined || 'error' in reply) {
      ticket.failPart(reply === undefined ? new Error('a worker left out a task') : fromErrorRecord(reply.error));
      continue;
    }
    part.hadCompany = batch.length > 1;
    part.end(reply.value, worker, undefined);
    if (ticket.endPart()) done.push(ticket);
  }
  return done;
}
