// Door of scheduling, from queue to workers: takes calls in, hands their parts to free workers in the queue's order, and keeps the books of
// what runs. Knows nothing of models; what a part is worth was estimated by whoever submits it.

import type { Clock } from '../../domain/clock.ts';
import { AppError } from '../../domain/errors.ts';
import { sum } from '../../domain/sum.ts';
import type { ProbeTask, ReplyOf, Task } from '../../runtime/messages.ts';
import type { InferencePool } from '../../runtime/worker-pool.ts';
import type { Caller, RefusalReason } from '../engine.ts';
import {
  type AdmissionLimits,
  expectedDrainMs,
  expectedWaitMs,
  findRefusal,
  type Newcomer,
  type QueueLoad,
} from './admission.ts';
import { Call, type CallPart, type CallResult, type Gate, type LaterParts, type PartResult } from './call.ts';
import { DrainRate } from './drain-rate.ts';
import { Overtaking } from './overtaking.ts';
import { EMBEDDING_PATIENCE_MS, FairQueue, type QueueClass } from './queue.ts';
import { RunningTasks } from './running-tasks.ts';
import { chooseWorker } from './worker-choice.ts';

const PROBE: ProbeTask = { kind: 'probe' };
/**
 * A call with a deadline goes first in its lane from this much before the last moment at which it could begin: a running
 * part may hold the workers for so long.
 */
const URGENT_AHEAD_MS = 25;

export interface DispatcherOptions {
  readonly pool: InferencePool;
  readonly limits: AdmissionLimits;
  readonly clock: Clock;
  /** A task failed in a way that is not its caller's fault: the worker may have been replaced. */
  readonly onWorkerFault?: (worker: number) => void;
}

/** What is asked of the dispatcher, besides the first parts. */
export interface SubmitOptions<T extends Task, L extends Task> extends Caller {
  readonly queueClass: QueueClass;
  /** From begin to end when nothing comes between. Default: all parts one after the other. */
  readonly durationMs?: number;
  readonly later?: {
    readonly costMs: number;
    readonly open: (results: readonly PartResult<ReplyOf[T['kind']]>[]) => readonly CallPart<L>[];
    readonly after?: LaterParts | undefined;
  };
  readonly gate?: Gate;
}

export interface SubmitResult<T extends Task, L extends Task> extends CallResult {
  readonly first: readonly PartResult<ReplyOf[T['kind']]>[];
  readonly later: readonly PartResult<ReplyOf[L['kind']]>[];
}

/** A call as admission sees it. */
export interface Candidate extends Newcomer {
  readonly keyId: string;
  readonly queueClass: QueueClass;
}

export class Dispatcher {
  private readonly pool: InferencePool;
  private readonly limits: AdmissionLimits;
  private readonly clock: Clock;
  private readonly onWorkerFault: (worker: number) => void;
  private readonly queue = new FairQueue<Call>();
  private readonly stopWatching = new Map<Call, () => void>();
  private readonly running: RunningTasks;
  private readonly drainRate = new DrainRate();
  private readonly overtaking: Overtaking;
  private readonly refusalCounts: Record<RefusalReason, number> = { jobs: 0, cost: 0, wait: 0, late: 0 };
  private idleWaiters: (() => void)[] = [];
  private cancelSecondLook: (() => void) | undefined;

  constructor({ pool, limits, clock, onWorkerFault = () => undefined }: DispatcherOptions) {
    this.pool = pool;
    this.limits = limits;
    this.clock = clock;
    this.onWorkerFault = onWorkerFault;
    this.running = new RunningTasks(pool.workers);
    this.overtaking = new Overtaking(pool.workers);
  }

  get nowMs(): number {
    return this.clock.nowMs();
  }

  get workers(): number {
    return this.pool.workers;
  }

  get idleWorkers(): number {
    return this.running.idle.length;
  }

  get busyWorkers(): number {
    return this.pool.workers - this.idleWorkers;
  }

  /** Calls of which no part has begun. */
  get queuedJobs(): number {
    return this.queue.jobCount();
  }

  get queuedCostMs(): number {
    return this.queue.waitingCostMs();
  }

  /** When all that is queued or runs now will be done. */
  get expectedDrainMs(): number {
    const workerBusyMs = this.running.busyMs(this.clock.nowMs());
    return expectedDrainMs({ costMs: this.queuedCostMs, workerBusyMs, drainRate: this.drainRate.perWorker });
  }

  /** Since the start. */
  get refusals(): Readonly<Record<RefusalReason, number>> {
    return this.refusalCounts;
  }

  /** How long the latest run is past the time it could be expected to take; 0 when none is. */
  lateMs(): number {
    return this.running.lateMs(this.clock.nowMs());
  }

  /** Whether `submit` would refuse such a call at this moment. Changes nothing. */
  findRefusal(candidate: Candidate): AppError | undefined {
    const refusal = findRefusal(this.loadFor(candidate), candidate, this.limits);
    return refusal === undefined ? undefined : overloaded(refusal.retryAfterMs);
  }

  /**
   * Queues a call and runs its parts. Once its first part is dispatched, it runs to its end: later parts are neither
   * refused nor dropped.
   * @throws AppError `overloaded` when it is refused or waits too long, or what a worker said; the signal's reason when
   *   the caller left before dispatch
   */
  async submit<T extends Task, L extends Task = never>(
    parts: readonly CallPart<T>[],
    { keyId, signal, deadlineMs, queueClass, later, gate, ...options }: SubmitOptions<T, L>,
  ): Promise<SubmitResult<T, L>> {
    signal.throwIfAborted();
    const laterMs = (later?.costMs ?? 0) + (later?.after?.costMs ?? 0);
    const costs = { partsMs: parts.map(({ costMs }) => costMs), laterMs };
    const costMs = sum(costs.partsMs) + costs.laterMs;
    const candidate = { keyId, queueClass, deadlineMs, costMs, durationMs: options.durationMs ?? costMs };
    this.admit(candidate);
    const call = new Call({
      keyId,
      queueClass,
      submittedMs: this.clock.nowMs(),
      latestStartMs: this.latestStartMs(candidate),
      parts,
      // What comes back from a part of T is a reply to T.
      later: later as LaterParts | undefined,
      gate,
    });
    this.watch(call, candidate, signal);
    this.queue.push(call, costs);
    this.pump();
    return call.finished as Promise<SubmitResult<T, L>>;
  }

  /** Runs a golden case on a free worker. @returns false at once when none is free: the running tasks tell as much */
  async probe(costMs: number): Promise<boolean> {
    const worker = this.running.idle[0];
    if (worker === undefined) return false;
    try {
      await this.runTask(PROBE, { worker, costMs });
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

  private admit(candidate: Candidate): void {
    const refusal = findRefusal(this.loadFor(candidate), candidate, this.limits);
    if (refusal !== undefined) {
      this.refusalCounts[refusal.reason] += 1;
      throw overloaded(refusal.retryAfterMs);
    }
    if (candidate.queueClass === 'decision') this.overtaking.observe(candidate.costMs, this.clock.nowMs());
  }

  private latestStartMs({ deadlineMs, durationMs }: Newcomer): number | undefined {
    return deadlineMs === undefined ? undefined : this.clock.nowMs() + deadlineMs - durationMs - URGENT_AHEAD_MS;
  }

  /** Drops the call if its caller leaves, or refuses it if it waits too long, before its work begins. */
  private watch(call: Call, candidate: Candidate, signal: AbortSignal): void {
    const giveUp = (reason: () => unknown) => {
      stop();
      if (this.queue.remove(call)) call.fail(reason());
      this.pump();
    };
    const leave = () => giveUp(() => signal.reason);
    const cancelDeadline = this.clock.after(this.limits.deadlineMs, () =>
      giveUp(() => {
        this.refusalCounts.wait += 1;
        return overloaded(expectedWaitMs(this.loadFor(candidate)));
      }),
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
    this.cancelSecondLook?.();
    this.cancelSecondLook = undefined;
    while (this.running.idle.length > 0) {
      // While others wait, a call takes one worker at a time: more would make it faster and nobody else. Then anybody.
      if (!this.startNext((call) => call.runningParts === 0) && !this.startNext(() => true)) break;
    }
    this.wakeIdleWaiters();
  }

  /** @returns false when nothing may run now */
  private startNext(isInTurn: (call: Call) => boolean): boolean {
    const nowMs = this.clock.nowMs();
    let worker: number | undefined;
    const next = this.queue.take(nowMs, (call, part) => {
      if (!isInTurn(call) || !call.isOpen) return false;
      const chosen = chooseWorker(call.parts[part]?.routing, this.running.times(nowMs));
      // What waits for its worker is looked at again soon: the worker may take longer than was expected of it.
      if (chosen === undefined) this.lookAgain();
      else worker = chosen;
      return chosen !== undefined;
    });
    if (next === undefined || worker === undefined) return false;
    void this.runPart(next.entry, next.part, worker);
    return true;
  }

  private lookAgain(): void {
    this.cancelSecondLook ??= this.clock.after(SECOND_LOOK_MS, () => {
      this.cancelSecondLook = undefined;
      this.pump();
    });
  }

  private async runPart(call: Call, index: number, worker: number): Promise<void> {
    const part = call.parts[index];
    if (part === undefined) return;
    const startedMs = this.clock.nowMs();
    if (call.beginPart(startedMs)) this.stopWatching.get(call)?.();
    try {
      part.routing?.begin(worker);
      const reply = await this.runTask(part.task(), { worker, costMs: part.costMs });
      const wallMs = this.clock.nowMs() - startedMs;
      this.drainRate.observe(part.costMs, wallMs);
      const more = call.succeed(index, { reply, wallMs, worker });
      if (call.isAnswered) this.queue.answered(call.queueClass, this.clock.nowMs() - call.submittedMs);
      if (more !== undefined)
        this.queue.extend(
          call,
          more.map(({ costMs }) => costMs),
          call.laterCostMs,
        );
    } catch (error) {
      this.queue.remove(call);
      call.failPart(error);
    }
    // Only now: after a failure the next part must not be one of the same call.
    this.pump();
  }

  private async runTask<T extends Task>(
    task: T,
    { worker, costMs }: { readonly worker: number; readonly costMs: number },
  ): Promise<ReplyOf[T['kind']]> {
    this.running.begin(worker, { startedMs: this.clock.nowMs(), costMs });
    try {
      return await this.pool.run(task, worker);
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'internal_error') this.onWorkerFault(worker);
      throw error;
    } finally {
      this.running.end(worker);
    }
  }

  private loadFor({ keyId, queueClass, costMs, ...candidate }: Candidate): QueueLoad {
    const { queue } = this;
    const nowMs = this.clock.nowMs();
    const latestStartMs = this.latestStartMs({ costMs, ...candidate });
    const { ownMs, othersMs, otherKeys } = queue.waitingCosts(keyId);
    return {
      jobs: queue.jobCount(),
      keyJobs: queue.jobCount(keyId),
      keyCostsMs: ownMs,
      otherCostsMs: othersMs,
      otherKeys,
      ahead: queue.workAhead({ keyId, queueClass, submittedMs: nowMs, latestStartMs }, costMs, nowMs),
      workerBusyMs: this.running.busyMs(nowMs),
      overtaking: this.overtaking.shareBelow(queueClass === 'embedding' ? Infinity : costMs, nowMs),
      overtakenForMs: Math.max(
        queue.overtakenForMs(queueClass, costMs),
        queueClass === 'embedding' ? EMBEDDING_PATIENCE_MS : 0,
      ),
      drainRate: this.drainRate.perWorker,
    };
  }

  private wakeIdleWaiters(): void {
    if (this.busyWorkers > 0 || !this.queue.isEmpty) return;
    for (const wake of this.idleWaiters.splice(0)) wake();
  }
}

/** Long against a look, short against a part. */
const SECOND_LOOK_MS = 10;

function overloaded(retryAfterMs: number): AppError {
  return new AppError('overloaded', 'The server has more work than it can begin in time; try again later.', {
    retryAfterMs: Math.max(100, Math.ceil(retryAfterMs)),
  });
}
