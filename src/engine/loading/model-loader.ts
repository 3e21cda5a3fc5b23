// Door of loading: models that wait until somebody asks for them. Loads each once, into one worker after the other, and
// lets jobs wait for it where that is in time. Failures end with it: they are logged, told, and tried again later.

import type { Clock } from '../../domain/clock.ts';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { LoadedModelReport } from '../../runtime/load-report.ts';
import type { Caller, ModelState } from '../engine.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { LoadTicket, type WorkerLoad } from './load-ticket.ts';
import { LoadTime } from './load-time.ts';
import type { MemoryPlan, PlannedModel } from './memory-plan.ts';

export interface ModelLoaderOptions {
  readonly plan: MemoryPlan;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  /** Longest wait for a model, and how many may wait. */
  readonly limits: { readonly deadlineMs: number; readonly maxJobs: number };
  /** All workers have it. @param report of the slowest */
  readonly onLoaded: (report: LoadedModelReport, warnings: readonly string[]) => Promise<void>;
  /** For the operator. */
  readonly onFailure: (modelId: string, reason: string) => void;
}

/** Each try takes as long as a load. */
const RETRY_AFTER_MS = 60_000;
const LOADING = 'The model is being loaded; try again later.';

interface Later {
  readonly model: PlannedModel;
  state: ModelState;
  /** Of the state. */
  sinceMs: number;
  /** Estimated, from `sinceMs` on. */
  expectedMs: number;
  done: Promise<void>;
}

export class ModelLoader {
  readonly #options: ModelLoaderOptions;
  readonly #later: ReadonlyMap<string, Later>;
  readonly #loadTime = new LoadTime();
  /** One load at a time: two would leave no worker to the models that are there. */
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: ModelLoaderOptions) {
    this.#options = options;
    const models = options.plan.models.filter(({ load }) => load === 'first-use');
    this.#later = new Map(models.map((model) => [model.id, startOf(model)]));
  }

  /** @returns undefined where it is loaded at the start */
  stateOf(modelId: string): ModelState | undefined {
    return this.#later.get(modelId)?.state;
  }

  /** A job cannot run yet, but may wait for its model. */
  mustLoad(modelId: string): boolean {
    const state = this.stateOf(modelId);
    return state !== undefined && state !== 'loaded';
  }

  /** What a load of the start took. */
  observe({ modelId, loadMs }: LoadedModelReport): void {
    const bytes = this.#options.plan.models.find(({ id }) => id === modelId)?.weightBytes;
    if (bytes !== undefined) this.#loadTime.observe(bytes, loadMs);
  }

  /**
   * Starts the load unless it is under way, whether the caller can wait for it or not: the next one may.
   * @returns resolves when the model is loaded; rejects with the signal's reason when the caller leaves, or as below
   * @throws AppError `overloaded` when that takes longer than the caller may wait, `model_unavailable`
   */
  wait(modelId: string, { signal, deadlineMs }: Caller): Promise<void> {
    const later = this.#later.get(modelId);
    if (later === undefined) throw new Error(`${modelId} is loaded at the start`);
    if (later.state !== 'loading') this.#begin(later);
    const { scheduler, limits } = this.#options;
    const remainingMs = this.#remainingMs(later);
    if (deadlineMs !== undefined && remainingMs > deadlineMs) throw scheduler.refuse('late', remainingMs, LOADING);
    if (remainingMs > limits.deadlineMs) throw scheduler.refuse('wait', remainingMs, LOADING);
    if (this.#waiting >= limits.maxJobs) throw scheduler.refuse('jobs', remainingMs, LOADING);
    return this.#waitFor(later, signal, Math.min(limits.deadlineMs, deadlineMs ?? Infinity));
  }

  async #waitFor(later: Later, signal: AbortSignal, longestMs: number): Promise<void> {
    const { clock, scheduler } = this.#options;
    const gone = Promise.withResolvers<never>();
    const leave = (): void => gone.reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    const cancelDeadline = clock.after(longestMs, () =>
      gone.reject(scheduler.refuse('wait', this.#remainingMs(later), LOADING)),
    );
    this.#waiting += 1;
    try {
      await Promise.race([later.done, gone.promise]);
    } finally {
      this.#waiting -= 1;
      cancelDeadline();
      signal.removeEventListener('abort', leave);
    }
  }

  /** @throws AppError `model_unavailable` */
  #begin(later: Later): void {
    const { plan, clock, scheduler } = this.#options;
    const nowMs = clock.nowMs();
    const pauseMs = later.sinceMs + RETRY_AFTER_MS - nowMs;
    if (later.state === 'failed' && pauseMs > 0) throw unavailable(pauseMs);
    if (!plan.take(later.model)) throw this.#fail(later, 'there is no room in memory for it (engine.memoryBytes)');
    const ahead = [...this.#later.values()].filter(({ state }) => state === 'loading');
    let expectedMs = scheduler.workers * this.#loadTime.estimateMs(later.model.weightBytes);
    for (const other of ahead) expectedMs += this.#remainingMs(other);
    Object.assign(later, { state: 'loading', sinceMs: nowMs, expectedMs });
    later.done = this.#turn.then(() => this.#load(later));
    this.#turn = later.done.catch(() => undefined);
  }

  /** A load past its estimate may well take as long again as it is late. */
  #remainingMs({ sinceMs, expectedMs }: Later): number {
    return Math.abs(sinceMs + expectedMs - this.#options.clock.nowMs());
  }

  async #load(later: Later): Promise<void> {
    const { scheduler, onLoaded } = this.#options;
    const lacking = new Set(Array.from({ length: scheduler.workers }, (_, worker) => worker));
    const loads: WorkerLoad[] = [];
    try {
      while (lacking.size > 0) {
        const load = await this.#loadOnce(later.model, lacking);
        lacking.delete(load.worker);
        loads.push(load);
      }
      const [slowest] = loads.toSorted((a, b) => b.report.loadMs - a.report.loadMs);
      const warnings = new Set(loads.flatMap((load) => load.warnings));
      if (slowest !== undefined) await onLoaded(slowest.report, [...warnings]);
      later.state = 'loaded';
    } catch (error) {
      if (loads.length === 0) this.#options.plan.giveBack(later.model);
      throw this.#toRefusal(later, error);
    }
  }

  async #loadOnce(model: PlannedModel, lacking: ReadonlySet<number>): Promise<WorkerLoad> {
    const costMs = this.#loadTime.estimateMs(model.weightBytes);
    const load = await new LoadTicket(this.#options.scheduler, { modelId: model.id, lacking, costMs }).run();
    this.#loadTime.observe(model.weightBytes, load.report.loadMs);
    return load;
  }

  /** A queue that has no room for the load, or is closed, says nothing of the model. */
  #toRefusal(later: Later, error: unknown): unknown {
    if (!(error instanceof AppError) || error.code !== 'overloaded') return this.#fail(later, messageOf(error));
    later.state = 'not_loaded';
    return error;
  }

  #fail(later: Later, reason: string): AppError {
    Object.assign(later, { state: 'failed', sinceMs: this.#options.clock.nowMs() });
    this.#options.onFailure(later.model.id, reason);
    return unavailable(RETRY_AFTER_MS);
  }
}

function startOf(model: PlannedModel): Later {
  return { model, state: 'not_loaded', sinceMs: 0, expectedMs: 0, done: Promise.resolve() };
}

function unavailable(retryAfterMs: number): AppError {
  return new AppError('model_unavailable', 'The model cannot be loaded at the moment.', { retryAfterMs });
}
