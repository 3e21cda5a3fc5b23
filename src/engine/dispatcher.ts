// From queue to workers: takes calls in, hands their parts to free workers in the queue's order, and keeps the books of
// what runs. Knows nothing of models; what a part is worth was estimated by whoever submits it.

import { AppError } from '../domain/errors.ts';
import type { ProbeTask, ReplyOf, Task } from '../runtime/messages.ts';
import type { InferencePool } from '../runtime/worker-pool.ts';
import { type AdmissionLimits, findRefusal, type QueueLoad } from './admission.ts';
import { Call, type CallPart, type CallResult } from './call.ts';
import type { Clock } from './clock.ts';
import type { Caller } from './engine.ts';
import { FairQueue, type QueueClass } from './queue.ts';

const PROBE: ProbeTask = { kind: 'probe' };
/** A run is late when it takes this many times its estimate, and the configured time on top. */
const LATE_FACTOR = 3;

interface Running {
  readonly worker: number;
  readonly startedMs: number;
  readonly costMs: number;
}

export interface DispatcherOptions {
  readonly pool: InferencePool;
  readonly limits: AdmissionLimits;
  readonly clock: Clock;
}

export class Dispatcher {
  private readonly pool: InferencePool;
  private readonly limits: AdmissionLimits;
  private readonly clock: Clock;
  private readonly queue = new FairQueue<Call>();
  private readonly stopWatching = new Map<Call, () => void>();
  private readonly running = new Set<Running>();
  private idleWaiters: (() => void)[] = [];

  constructor({ pool, limits, clock }: DispatcherOptions) {
    this.pool = pool;
    this.limits = limits;
    this.clock = clock;
  }

  get workers(): number {
    return this.pool.workers;
  }

  get idleWorkers(): number {
    return this.pool.workers - this.running.size;
  }

  get busyWorkers(): number {
    return this.running.size;
  }

  get queuedJobs(): number {
    return this.queue.jobCount();
  }

  get queuedCostMs(): number {
    return this.queue.waitingCostMs();
  }

  /** How long the latest run is past the time it could be expected to take; 0 when none is. */
  lateMs(): number {
    const nowMs = this.clock.nowMs();
    const lateness = [...this.running].map(({ startedMs, costMs }) => nowMs - startedMs - LATE_FACTOR * costMs);
    return Math.max(0, ...lateness);
  }

  /**
   * Queues a call and runs its parts. Once its first part is dispatched, it runs to its end; a continuation is neither
   * refused nor dropped, because its call was dispatched before.
   * @throws AppError `overloaded` when it is refused or its deadline passes, or what a worker said; the signal's reason
   *   when the caller left before dispatch
   */
  async submit<T extends Task>(
    parts: readonly (CallPart & { readonly task: T })[],
    { keyId, signal, queueClass }: Caller & { readonly queueClass: QueueClass },
  ): Promise<CallResult<ReplyOf[T['kind']]>> {
    const call = new Call({ keyId, queueClass, parts, submittedMs: this.clock.nowMs() });
    if (queueClass !== 'continuation') this.admit(call, signal);
    this.queue.push(call);
    this.pump();
    // Every part was a T, and so is every reply.
    return call.finished as Promise<CallResult<ReplyOf[T['kind']]>>;
  }

  /** Runs a golden case on a free worker. @returns false at once when none is free: the running tasks tell as much */
  async probe(costMs: number): Promise<boolean> {
    if (this.running.size >= this.pool.workers) return false;
    try {
      await this.runTask(PROBE, costMs);
    } finally {
      this.pump();
    }
    return true;
  }

  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.idleWaiters.push(resolve);
      this.wakeIdleWaiters();
    });
  }

  private admit(call: Call, signal: AbortSignal): void {
    signal.throwIfAborted();
    const refusal = findRefusal(this.loadFor(call), sum(call.partCostsMs), this.limits);
    if (refusal !== undefined) throw overloaded(refusal.retryAfterMs);
    this.watch(call, signal);
  }

  /** Drops the call if its caller leaves, or refuses it if its deadline passes, before its work begins. */
  private watch(call: Call, signal: AbortSignal): void {
    const giveUp = (reason: () => unknown) => {
      stop();
      if (this.queue.remove(call)) call.fail(reason());
      this.wakeIdleWaiters();
    };
    const leave = () => giveUp(() => signal.reason);
    const cancelDeadline = this.clock.after(this.limits.deadlineMs, () =>
      giveUp(() => overloaded(Math.ceil(this.loadFor(call).costMs / this.pool.workers))),
    );
    const stop = () => {
      this.stopWatching.delete(call);
      signal.removeEventListener('abort', leave);
      cancelDeadline();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.stopWatching.set(call, stop);
  }

  private pump(): void {
    while (this.running.size < this.pool.workers) {
      const next = this.queue.take();
      if (next === undefined) break;
      void this.runPart(next.entry, next.part);
    }
    this.wakeIdleWaiters();
  }

  private async runPart(call: Call, index: number): Promise<void> {
    const part = call.parts[index];
    if (part === undefined) return;
    if (call.begin(this.clock.nowMs())) this.stopWatching.get(call)?.();
    const startedMs = this.clock.nowMs();
    try {
      const reply = await this.runTask(part.task, part.costMs);
      call.succeed(index, { reply, wallMs: this.clock.nowMs() - startedMs });
    } catch (error) {
      this.queue.remove(call);
      call.fail(error);
    }
    // Only now: after a failure the next part must not be one of the same call.
    this.pump();
  }

  private async runTask<T extends Task>(task: T, costMs: number): Promise<ReplyOf[T['kind']]> {
    const running = { worker: this.findIdleWorker(), startedMs: this.clock.nowMs(), costMs };
    this.running.add(running);
    try {
      return await this.pool.run(task, running.worker);
    } finally {
      this.running.delete(running);
    }
  }

  private findIdleWorker(): number {
    const busy = new Set([...this.running].map(({ worker }) => worker));
    for (let worker = 0; worker < this.pool.workers; worker++) if (!busy.has(worker)) return worker;
    throw new Error('a task was dispatched while every worker is busy');
  }

  private loadFor(call: Call): QueueLoad {
    const { queue } = this;
    return {
      jobs: queue.jobCount(),
      costMs: queue.waitingCostMs(),
      keyJobs: queue.jobCount(call.keyId),
      keyCostMs: queue.waitingCostMs(call.keyId),
      aheadMs: queue.costAheadMs(call),
      workerBusyMs: this.workerBusyMs(),
    };
  }

  private workerBusyMs(): number[] {
    const nowMs = this.clock.nowMs();
    const busyMs = [...this.running].map(({ startedMs, costMs }) => Math.max(0, startedMs + costMs - nowMs));
    return [...busyMs, ...new Array<number>(this.pool.workers - busyMs.length).fill(0)];
  }

  private wakeIdleWaiters(): void {
    if (this.running.size > 0 || this.queue.jobCount() > 0) return;
    for (const wake of this.idleWaiters.splice(0)) wake();
  }
}

function overloaded(retryAfterMs: number): AppError {
  return new AppError('overloaded', 'The server has more work than it can begin in time; try again later.', {
    retryAfterMs: Math.max(100, retryAfterMs),
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
