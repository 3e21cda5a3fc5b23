// The engine over a pool of workers: a ticket for each job, and the states from loading to drained. Knows
// nothing of HTTP, keys or money.

import type { Clock } from '../domain/clock.ts';
import { AppError } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { LoadedModelReport } from '../runtime/load-report.ts';
import type { LongInputs } from '../runtime/messages.ts';
import { isCalibrated, type ModelFolder, priceOf } from '../runtime/model-folder/manifest.ts';
import type { InferencePool, PoolReport } from '../runtime/worker-pool.ts';
import { systemClock } from './clock.ts';
import { type OpenTokenCounter, TokenCounting } from './cost/token-counting.ts';
import { Decider } from './decision/decider.ts';
import { Embedder, type EmbeddingFolder } from './embedding/embedder.ts';
import type {
  Caller,
  DecideJob,
  DecideResult,
  EmbedJob,
  EmbedResult,
  Engine,
  EngineState,
  EngineStatus,
  Job,
  JobResult,
  ModelState,
  RerankJob,
  RerankResult,
  Ticket,
} from './engine.ts';
import { ColdTicket } from './loading/cold-ticket.ts';
import type { MemoryPlan } from './loading/memory-plan.ts';
import { ModelLoader } from './loading/model-loader.ts';
import { refusedTicket } from './refused-ticket.ts';
import type { BatchLimits } from './scheduling/batching.ts';
import { Scheduler, type SchedulerOptions } from './scheduling/scheduler.ts';
import { Scorer } from './scoring/scorer.ts';
import { Watchdog } from './watchdog.ts';

/** What a probe may take at least before it is late, apart from the configured time. */
const LEAST_PROBE_COST_MS = 100;
const RETRY_WHILE_STARTING_MS = 1000;

export interface EngineEvent {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

export interface BatchSettings extends BatchLimits {
  /** Each row has runs of its own all the same: the same bits under any load. */
  readonly exact: boolean;
  /** Runs are shared on a processor, too, by models in full precision. */
  readonly onCpu: boolean;
}

export interface PooledEngineOptions {
  readonly folders: readonly ModelFolder[];
  readonly pool: InferencePool;
  /** Which models are loaded when, and what there is room for. */
  readonly plan: MemoryPlan;
  readonly threadsPerWorker: number;
  /** What each worker keeps of documents that it has read; 0: nothing. */
  readonly stateCacheBytes: number;
  /** Keys and values that workers share at the moment. Default: one document of the largest size a model takes. */
  readonly sharedMemoryBytes?: number;
  /** What counts tokens on this thread; undefined for a model: its tokens are counted by workers. */
  readonly openCounter: OpenTokenCounter;
  readonly queue: SchedulerOptions['limits'];
  /** What becomes of long embedding inputs where the caller does not say it. Default: `refuse` */
  readonly longInputs?: LongInputs;
  /** How callers share runs, of models and on devices that gain by it. Default: never */
  readonly batch?: BatchSettings | undefined;
  readonly probe: {
    /** Time between looks at the workers, each with a probe inference if one is free; 0: none. */
    readonly intervalMs: number;
    /** A probe or task this much later than its estimate makes the engine `unresponsive` until it ends. */
    readonly timeoutMs: number;
  };
  /** What an operator should know; never texts of callers. */
  readonly onEvent: (event: EngineEvent) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
}

export class PooledEngine implements Engine {
  readonly models: readonly ModelCard[];
  readonly ready: Promise<void>;
  /** As the pool's. */
  readonly deviceLost: Promise<string> | undefined;
  readonly #options: PooledEngineOptions;
  /** As they are now, for all that ask. */
  readonly #queueLimits: SchedulerOptions['limits'];
  readonly #decider: Decider;
  readonly #embedder: Embedder;
  readonly #scorer: Scorer;
  readonly #scheduler: Scheduler;
  readonly #loader: ModelLoader;
  readonly #clock: Clock;
  readonly #counting: TokenCounting;
  readonly #watchdog: Watchdog;
  #phase: Exclude<EngineState, 'unresponsive'> = 'loading';
  #device = '';
  /** It runs a golden case: the slowest of the start tells what that takes. */
  #probeCostMs = LEAST_PROBE_COST_MS;

  constructor(options: PooledEngineOptions) {
    const { folders, pool, probe, stateCacheBytes, onEvent, clock = systemClock } = options;
    this.#options = options;
    this.deviceLost = pool.deviceLost;
    const limits = { ...options.queue };
    this.#queueLimits = limits;
    const onWorkerFault = (worker: number) => this.#decider.forgetWorker(worker);
    const scheduler = new Scheduler({ pool, clock, limits, onWorkerFault });
    const counting = new TokenCounting(scheduler);
    const { longInputs = 'refuse', sharedMemoryBytes } = options;
    const batch = options.batch?.exact ? undefined : options.batch;
    const manifests = folders.map(({ manifest }) => manifest);
    this.#decider = new Decider({
      manifests: manifests.filter((manifest) => manifest.family === 'split-encoder'),
      scheduler,
      counting,
      clock,
      stateCacheBytes,
      sharedMemoryBytes,
      batch,
      runTokens: options.batch?.tokens,
    });
    this.#embedder = new Embedder({
      folders: folders.filter(isEmbeddingFolder),
      scheduler,
      counting,
      longInputs,
      batch,
    });
    this.#scorer = new Scorer({ folders, scheduler, counting, batch });
    this.models = folders.map((folder) => this.#cardOf(folder));
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#loader = new ModelLoader({
      plan: options.plan,
      scheduler,
      clock,
      limits,
      onLoaded: (report, warnings) => this.#takeLater(report, warnings),
      onFailure: (modelId, reason) => {
        onEvent({
          level: 'error',
          message: `the model ${modelId} could not be loaded: ${reason}`,
          details: { modelId },
        });
      },
    });
    this.#counting = counting;
    this.#watchdog = new Watchdog({
      ...probe,
      clock,
      lateMs: () => scheduler.lateMs(),
      probe: () => scheduler.probe(this.#probeCostMs),
      onChange: ({ responsive, reason }) => onEvent({ level: responsive ? 'info' : 'error', message: reason }),
    });
    this.ready = this.#load();
    // Whoever awaits it sees the failure; without this line one that comes before would end the process.
    this.ready.catch(() => undefined);
  }

  ticketFor(job: DecideJob, caller: Caller): Ticket<DecideResult>;
  ticketFor(job: EmbedJob, caller: Caller): Ticket<EmbedResult>;
  ticketFor(job: RerankJob, caller: Caller): Ticket<RerankResult>;
  ticketFor(job: Job, caller: Caller): Ticket<JobResult>;
  ticketFor(job: Job, caller: Caller): Ticket<JobResult> {
    try {
      return this.#openTicket(job, caller);
    } catch (error) {
      return refusedTicket(error);
    }
  }

  status(): EngineStatus {
    const { pool, threadsPerWorker, plan } = this.#options;
    return {
      state: this.#phase === 'ready' && !this.#isResponsive ? 'unresponsive' : this.#phase,
      queuedJobs: this.#scheduler.queuedJobs,
      queuedCostMs: this.#scheduler.queuedCostMs,
      busyWorkers: this.#scheduler.busyWorkers,
      workers: pool.workers,
      threadsPerWorker,
      device: this.#device,
      stateCache: this.#decider.stateCache,
      refusals: this.#scheduler.refusals,
      expectedDrainMs: this.#scheduler.expectedDrainMs,
      models: this.models.map(({ id }) => ({ id, state: this.#loader.stateOf(id) ?? this.#stateAtStart })),
      memory: { takenBytes: plan.takenBytes, budgetBytes: plan.budgetBytes },
    };
  }

  get #isResponsive(): boolean {
    return this.#watchdog.responsive && (this.#options.pool.failingWorkers ?? 0) === 0;
  }

  /** Of calls that come from now on; those that wait keep what they began with. */
  limitQueue(limits: SchedulerOptions['limits']): void {
    Object.assign(this.#queueLimits, limits);
  }

  async drain(): Promise<void> {
    this.#phase = 'draining';
    this.#watchdog.stop();
    await this.#scheduler.close();
    await this.#options.pool.close();
  }

  /** @throws AppError what no ticket is given for */
  #openTicket(job: Job, caller: Caller): Ticket<JobResult> {
    if (this.#phase === 'loading') {
      const retryAfterMs = RETRY_WHILE_STARTING_MS;
      throw new AppError('overloaded', 'The server is loading its models.', { retryAfterMs });
    }
    if (this.#loader.mustLoad(job.modelId)) {
      const { modelId } = job;
      const open = (whoWaited: Caller) => this.#openTicket(job, whoWaited);
      return new ColdTicket({ modelId, caller, loader: this.#loader, clock: this.#clock, open });
    }
    const ticket = this.#findTicket(job, caller);
    if (ticket !== undefined) return ticket;
    const isKnown = this.models.some(({ id }) => id === job.modelId);
    if (!isKnown) throw new AppError('model_not_found', 'No such model.', { param: 'model' });
    throw new AppError('model_type_mismatch', `${job.modelId} works on another endpoint.`, { param: 'model' });
  }

  /** @returns undefined where no model does such a job under that id */
  #findTicket(job: Job, caller: Caller): Ticket<JobResult> | undefined {
    if ('inputs' in job) return this.#embedder.ticketFor(job, caller);
    const deciding = 'state' in job ? this.#decider.ticketFor(job, caller) : undefined;
    return deciding ?? this.#scorer.ticketFor(job, caller);
  }

  async #load(): Promise<void> {
    const { folders, pool, openCounter, onEvent } = this.#options;
    let report: PoolReport;
    try {
      report = await pool.loaded;
      const atStart = folders.filter(({ manifest }) => this.#loader.stateOf(manifest.id) === undefined);
      await this.#counting.open(atStart, openCounter);
    } catch (error) {
      await pool.close();
      throw error;
    }
    this.#device = report.device;
    for (const note of report.notes) onEvent({ level: 'info', message: note });
    for (const warning of report.warnings) onEvent({ level: 'warn', message: warning });
    for (const model of report.models) {
      this.#take(model);
      this.#loader.observe(model);
    }
    if (this.#phase !== 'loading') return;
    this.#phase = 'ready';
    this.#watchdog.start();
  }

  /** Of one that was first asked for now. */
  async #takeLater(report: LoadedModelReport, warnings: readonly string[]): Promise<void> {
    const { folders, openCounter, onEvent } = this.#options;
    for (const warning of warnings) onEvent({ level: 'warn', message: warning });
    await this.#counting.open(
      folders.filter(({ manifest }) => manifest.id === report.modelId),
      openCounter,
    );
    this.#take(report);
  }

  #take(report: LoadedModelReport): void {
    const { modelId, device, precision, loadMs, optimizedGraphs, timedCases } = report;
    const details = { modelId, precision, loadMs: Math.round(loadMs), optimizedGraphs, device };
    this.#options.onEvent({ level: 'info', message: 'model loaded and checked', details });
    this.#decider.calibrate(report);
    this.#embedder.calibrate(report);
    this.#scorer.calibrate(report);
    for (const { wallMs } of timedCases) this.#probeCostMs = Math.max(this.#probeCostMs, wallMs);
  }

  /** Of a model that is loaded at the start. */
  get #stateAtStart(): ModelState {
    return this.#phase === 'loading' ? 'loading' : 'loaded';
  }

  #cardOf({ manifest, digest }: ModelFolder): ModelCard {
    const { source } = manifest;
    return {
      id: manifest.id,
      type: manifest.type,
      description: manifest.description,
      ownedBy: manifest.owned_by,
      releaseDate: manifest.release_date,
      price: priceOf(manifest),
      digest,
      limits: { ...manifest.limits },
      ...this.#embedder.describe(manifest.id),
      ...this.#scorer.describe(manifest.id),
      ...(source === undefined ? {} : { source: `${source.repo}@${source.commit}` }),
      ...(manifest.type === 'decision' ? { isCalibrated: isCalibrated(manifest) } : {}),
    };
  }
}

function isEmbeddingFolder(folder: ModelFolder): folder is EmbeddingFolder {
  return folder.manifest.family === 'text-encoder';
}
