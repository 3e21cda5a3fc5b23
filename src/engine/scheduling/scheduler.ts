// Door of scheduling, from queue to workers: lets tickets in or refuses them, hands their parts to free workers in the
// queue's order, and keeps the books of what runs. Knows nothing of models; what a part is worth its ticket has estimated.

import type { Clock } from '../../domain/clock.ts';
import { AppError } from '../../domain/errors.ts';
import type { ProbeTask, ReplyOf, Task } from '../../runtime/messages.ts';
import type { InferencePool } from '../../runtime/worker-pool.ts';
import type { RefusalReason } from '../engine.ts';
import { type AdmissionLimits, expectedDrainMs, expectedWaitMs, findRefusal, type QueueLoad } from './admission.ts';
import { BatchRuns } from './batch-runs.ts';
import { DrainRate } from './drain-rate.ts';
import { Overtaking } from './overtaking.ts';
import { EMBEDDING_PATIENCE_MS, FairQueue } from './queue.ts';
import type { Part, QueuedTicket } from './queued-ticket.ts';
import { chooseWorker, RunningTasks } from './running-tasks.ts';
import { WidthChoice } from './width-choice.ts';

const PROBE: ProbeTask = { kind: 'probe' };
/**
 * A ticket with a deadline goes first in its lane from this much before the last moment at which it could begin: a running
 * part may hold the workers for so long.
 */
const URGENT_AHEAD_MS = 25;
/** Whoever had company a moment ago will have it again: a wide run would be in its way. */
const ALONE_AFTER_MS = 50;
/** Long against a look, short against a part. */
const SECOND_LOOK_MS = 10;
/** Another server, or the next start of this one, answers then. */
const RETRY_ELSEWHERE_MS = 1000;
const LEAST_RETRY_MS = 100;

export interface SchedulerOptions {
  readonly pool: InferencePool;
  readonly limits: AdmissionLimits;
  readonly clock: Clock;
  /** A task failed in a way that is not its caller's fault: the worker may have been replaced. */
  readonly onWorkerFault?: (worker: number) => void;
}

/** Where a part runs. */
interface Posting {
  readonly worker: number;
  /** It could be either. */
  readonly isAlone: boolean;
  /** With the cores of all. */
  readonly isWide: boolean;
}

export class Scheduler {
  readonly #pool: InferencePool;
  readonly #limits: AdmissionLimits;
  readonly #clock: Clock;
  readonly #onWorkerFault: (worker: number) => void;
  readonly #queue = new FairQueue();
  readonly #running: RunningTasks;
  readonly #drainRate = new DrainRate();
  readonly #overtaking: Overtaking;
  readonly #widthChoice = new WidthChoice();
  readonly #refusalCounts: Record<RefusalReason, number> = { jobs: 0, cost: 0, wait: 0, late: 0 };
  /** When a ticket last came while there was another. */
  #companyMs = -Infinity;
  #isClosed = false;
  #idleWaiters: (() => void)[] = [];
  #cancelSecondLook: (() => void) | undefined;
  #secondLookMs = Infinity;
  readonly #batches: BatchRuns;

  constructor({ pool, limits, clock, onWorkerFault = () => undefined }: SchedulerOptions) {
    this.#pool = pool;
    this.#limits = limits;
    this.#clock = clock;
    this.#onWorkerFault = onWorkerFault;
    this.#running = new RunningTasks(pool.workers);
    this.#batches = new BatchRuns({
      queue: this.#queue,
      clock,
      drainRate: this.#drainRate,
      runTask: (task, worker, costMs) => this.#runTask(task, { worker, costMs, isWide: false }),
      lookAgain: (afterMs) => this.#lookAgain(afterMs),
      pump: () => this.#pump(),
    });
    this.#overtaking = new Overtaking(pool.workers);
  }

  get workers(): number {
    return this.#pool.workers;
  }

  get idleWorkers(): number {
    return this.#running.idle.length;
  }

  get busyWorkers(): number {
    return this.#pool.workers - this.idleWorkers;
  }

  /** Tickets of which no part has begun. */
  get queuedJobs(): number {
    return this.#queue.jobCount();
  }

  get queuedCostMs(): number {
    return this.#queue.waitingCostMs();
  }

  /** A ticket of one part that came now would have the cores of all workers, and be quicker than in parts on each. */
  get wouldBeWide(): boolean {
    const isFree = this.#pool.wideWorker !== undefined && this.busyWorkers === 0 && this.#queue.isEmpty;
    return isFree && this.#hadNoCompany(this.#clock.nowMs()) && this.#widthChoice.beatsSharing;
  }

  /** When all that is queued or runs now will be done. */
  get expectedDrainMs(): number {
    const workerBusyMs = this.#running.busyMs(this.#clock.nowMs());
    return expectedDrainMs({ costMs: this.queuedCostMs, workerBusyMs, drainRate: this.#drainRate.perWorker });
  }

  /** Since the start. */
  get refusals(): Readonly<Record<RefusalReason, number>> {
    return this.#refusalCounts;
  }

  /** How long the latest run is past the time it could be expected to take; 0 when none is. */
  lateMs(): number {
    return this.#running.lateMs(this.#clock.nowMs());
  }

  /**
   * Lets a planned ticket in, and runs its parts. Once its first part has begun, it runs to its end: later parts are
   * neither refused nor dropped. One that waits too long is refused even then, and one whose caller leaves is dropped.
   * @throws AppError `overloaded`; the signal's reason when the caller has left
   */
  submit(ticket: QueuedTicket): void {
    ticket.caller.signal.throwIfAborted();
    if (this.#isClosed) {
      throw new AppError('overloaded', 'The server is stopping.', { retryAfterMs: RETRY_ELSEWHERE_MS });
    }
    const nowMs = this.#clock.nowMs();
    this.#admit(ticket, nowMs);
    ticket.isIn = true;
    ticket.submittedMs = nowMs;
    if (!this.#queue.isEmpty || this.busyWorkers > 0) this.#companyMs = nowMs;
    ticket.latestStartMs = latestStartMs(ticket, nowMs);
    this.#queue.push(ticket);
    this.#pump();
    if (!ticket.hasBegun) this.#watch(ticket);
  }

  /** For a call that cannot even become a ticket of the queue: counted as any other that is refused. */
  refuse(reason: RefusalReason, retryAfterMs: number, message?: string): AppError {
    this.#refusalCounts[reason] += 1;
    return overloaded(retryAfterMs, message);
  }

  /** Runs a golden case on a free worker. @returns false at once when none is free: the running tasks tell as much */
  async probe(costMs: number): Promise<boolean> {
    const worker = this.#running.idle[0];
    if (worker === undefined) return false;
    try {
      await this.#runTask(PROBE, { worker, costMs, isWide: false });
    } finally {
      this.#pump();
    }
    return true;
  }

  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
      this.#wakeIdleWaiters();
    });
  }

  /** Refuses what comes from now on. Resolves when what was let in has ended. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.idle();
  }

  #admit(ticket: QueuedTicket, nowMs: number): void {
    const { queueClass, costMs, deadlineMs } = ticket;
    // Where nothing waits and a worker is free, only a deadline can be missed.
    const isAlone = this.#queue.isEmpty && this.idleWorkers > 0;
    if (!isAlone || deadlineMs !== undefined) {
      const refusal = findRefusal(this.#loadFor(ticket, nowMs), ticket, this.#limits);
      if (refusal !== undefined) {
        throw this.refuse(refusal.reason, refusal.retryAfterMs);
      }
    }
    if (queueClass === 'decision') this.#overtaking.observe(costMs, nowMs);
  }

  /** Until work on it begins. */
  #watch(ticket: QueuedTicket): void {
    const { signal } = ticket.caller;
    const leave = () => this.#drop(ticket, () => signal.reason);
    const cancelDeadline = this.#clock.after(this.#limits.deadlineMs, () =>
      this.#drop(ticket, () => this.refuse('wait', expectedWaitMs(this.#loadFor(ticket, this.#clock.nowMs())))),
    );
    ticket.stopWatching = () => {
      ticket.stopWatching = undefined;
      signal.removeEventListener('abort', leave);
      cancelDeadline();
    };
    signal.addEventListener('abort', leave, { once: true });
  }

  #drop(ticket: QueuedTicket, reason: () => unknown): void {
    ticket.stopWatching?.();
    if (this.#queue.remove(ticket)) ticket.fail(reason());
    this.#pump();
  }

  #pump(): void {
    this.#cancelSecondLook?.();
    this.#cancelSecondLook = undefined;
    this.#batches.lookAnew();
    while (this.#running.idle.length > 0 && !this.#queue.isEmpty) {
      // While others wait, a ticket takes one worker at a time: more would make it faster and nobody else. Then anybody.
      if (!this.#startNext(true) && !this.#startNext(false)) break;
    }
    this.#wakeIdleWaiters();
  }

  /** @param isOneEach only tickets of which no part runs @returns false when nothing may run now */
  #startNext(isOneEach: boolean): boolean {
    const nowMs = this.#clock.nowMs();
    let worker: number | undefined;
    const ticket = this.#queue.find(nowMs, (next) => {
      if ((isOneEach && next.runningParts > 0) || !next.mayRun) return false;
      if (!this.#batches.mayBegin(next.parts[next.nextPart]?.batch?.model, nowMs)) return false;
      const chosen = this.#chooseWorker(next, nowMs);
      if (chosen !== undefined) worker = chosen;
      return chosen !== undefined;
    });
    if (ticket === undefined || worker === undefined) return false;
    const batched = ticket.parts[ticket.nextPart]?.batch?.model;
    if (batched !== undefined) void this.#batches.run(batched, worker);
    if (batched !== undefined) return true;
    const isAlone = worker === this.#pool.wideWorker && this.#isAlone(ticket, nowMs);
    const isWide = isAlone && this.#widthChoice.chooseWide();
    void this.#runPart(ticket, this.#queue.handOut(ticket), { worker, isAlone, isWide });
    return true;
  }

  #chooseWorker(ticket: QueuedTicket, nowMs: number): number | undefined {
    const part = ticket.parts[ticket.nextPart];
    const first = this.#isAlone(ticket, nowMs) ? this.#pool.wideWorker : undefined;
    const chosen = part && chooseWorker(part, this.#running.times(nowMs, first));
    // What waits for its worker is looked at again soon: the worker may take longer than was expected of it.
    if (chosen === undefined) this.#lookAgain();
    return chosen;
  }

  #lookAgain(afterMs = SECOND_LOOK_MS): void {
    const atMs = this.#clock.nowMs() + afterMs;
    if (this.#cancelSecondLook !== undefined && this.#secondLookMs <= atMs) return;
    this.#cancelSecondLook?.();
    this.#secondLookMs = atMs;
    this.#cancelSecondLook = this.#clock.after(afterMs, () => this.#pump());
  }

  /** The one place that knows, at the moment at which a part begins, what else waits and which workers are idle. */
  async #runPart(ticket: QueuedTicket, part: Part, { worker, isAlone, isWide }: Posting): Promise<void> {
    const startedMs = this.#clock.nowMs();
    if (ticket.beginPart(startedMs)) ticket.stopWatching?.();
    let isDone = false;
    try {
      const reply = await this.#runTask(part.begin(worker), { worker, costMs: part.costMs, isWide });
      const wallMs = this.#clock.nowMs() - startedMs;
      if (isAlone) this.#widthChoice.observe({ isWide, costMs: part.costMs, wallMs });
      // How fast a machine loads says nothing of how fast it runs.
      if (!isWide && ticket.queueClass !== 'loading') this.#drainRate.observe(part.costMs, wallMs);
      part.end(reply, worker, isWide ? undefined : wallMs);
      isDone = ticket.endPart();
    } catch (error) {
      ticket.failPart(error);
    }
    if (isDone) this.#queue.answered(ticket.queueClass, this.#clock.nowMs() - ticket.submittedMs);
    if (ticket.isOver) this.#queue.remove(ticket);
    // Only now: after a failure the next part must not be one of the same ticket. And before results are put together.
    this.#pump();
    if (isDone) ticket.finish();
  }

  /** Nothing else waits or runs, and nothing did a moment ago: the next part of this ticket may have all cores. */
  #isAlone({ queueClass, parts, nextPart }: QueuedTicket, nowMs: number): boolean {
    const isOne = this.busyWorkers === 0 && this.#queue.size === 1 && nextPart === parts.length - 1;
    return isOne && queueClass !== 'counting' && queueClass !== 'loading' && this.#hadNoCompany(nowMs);
  }

  #hadNoCompany(nowMs: number): boolean {
    return nowMs - this.#companyMs >= ALONE_AFTER_MS;
  }

  async #runTask<T extends Task>(
    task: T,
    { worker, costMs, isWide }: Omit<Posting, 'isAlone'> & { readonly costMs: number },
  ): Promise<ReplyOf[T['kind']]> {
    this.#running.begin(worker, { startedMs: this.#clock.nowMs(), costMs });
    try {
      return await this.#pool.run(task, worker, isWide);
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'internal_error') this.#onWorkerFault(worker);
      throw error;
    } finally {
      this.#running.end(worker);
    }
  }

  /** As a ticket finds it that comes now. */
  #loadFor(ticket: QueuedTicket, nowMs: number): QueueLoad {
    const queue = this.#queue;
    const { keyId, queueClass, costMs } = ticket;
    const place = { keyId, queueClass, submittedMs: nowMs, latestStartMs: latestStartMs(ticket, nowMs) };
    const { ownMs, othersMs, otherKeys } = queue.waitingCosts(keyId);
    return {
      jobs: queue.jobCount(),
      keyJobs: queue.jobCount(keyId),
      keyCostsMs: ownMs,
      otherCostsMs: othersMs,
      otherKeys,
      ahead: queue.workAhead(place, costMs, nowMs),
      workerBusyMs: this.#running.busyMs(nowMs),
      overtaking: this.#overtaking.shareBelow(queueClass === 'embedding' ? Infinity : costMs, nowMs),
      overtakenForMs: Math.max(
        queue.overtakenForMs(queueClass, costMs),
        queueClass === 'embedding' ? EMBEDDING_PATIENCE_MS : 0,
      ),
      drainRate: this.#drainRate.perWorker,
    };
  }

  #wakeIdleWaiters(): void {
    if (this.#idleWaiters.length === 0 || this.busyWorkers > 0 || !this.#queue.isEmpty) return;
    for (const wake of this.#idleWaiters.splice(0)) wake();
  }
}

function latestStartMs({ deadlineMs, durationMs }: QueuedTicket, nowMs: number): number | undefined {
  return deadlineMs === undefined ? undefined : nowMs + deadlineMs - durationMs - URGENT_AHEAD_MS;
}

const TOO_MUCH_WORK = 'The server has more work than it can begin in time; try again later.';

function overloaded(retryAfterMs: number, message = TOO_MUCH_WORK): AppError {
  return new AppError('overloaded', message, { retryAfterMs: Math.max(LEAST_RETRY_MS, Math.ceil(retryAfterMs)) });
}
