// The engine over a pool of workers: jobs to tasks, replies to answers, and the states from loading to drained. Knows
// nothing of HTTP, keys or money.

import type { Clock } from '../domain/clock.ts';
import { AppError } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import { inputTokenLimit, windowTokens } from '../runtime/families/text-encoder/embedding-tokens.ts';
import type { LongInputs } from '../runtime/messages.ts';
import {
  type Manifest,
  type ModelFolder,
  priceOf,
  type SplitEncoderManifest,
  type TextEncoderManifest,
} from '../runtime/model-folder/manifest.ts';
import type { InferencePool, PoolReport } from '../runtime/worker-pool.ts';
import { systemClock } from './clock.ts';
import { Decider, type DeciderOptions } from './decision/decider.ts';
import { SharedMemories } from './decision/shared-memories.ts';
import { StateDirectory } from './decision/state-directory.ts';
import { Embedder } from './embedding/embedder.ts';
import { embeddingLimits, mayBeTooLarge, requireRequestTokens } from './embedding/embedding-limits.ts';
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
  StateCacheCounts,
  Ticket,
} from './engine.ts';
import { type Candidate, Dispatcher } from './scheduling/dispatcher.ts';
import { Watchdog } from './scheduling/watchdog.ts';
import { type OpenTokenCounter, TokenCounting } from './token-counting.ts';

/** What a probe may take before it is late, apart from the configured time. */
const PROBE_COST_MS = 100;
const RETRY_WHILE_STARTING_MS = 1000;
const SHARED_MEMORY_BYTES = 160_000_000;

export interface EngineEvent {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

export interface PooledEngineOptions {
  readonly folders: readonly ModelFolder[];
  readonly pool: InferencePool;
  readonly threadsPerWorker: number;
  /** What each worker keeps of documents that it has read; 0: nothing. */
  readonly stateCacheBytes: number;
  /** Keys and values that workers share at the moment. Default: one document at the limit of `kev` (151 MB), no more. */
  readonly sharedMemoryBytes?: number;
  /** What counts tokens on this thread; undefined for a model: its tokens are counted by workers. */
  readonly openCounter: OpenTokenCounter;
  readonly queue: {
    /** Calls that may wait at once. */
    readonly maxJobs: number;
    /** Estimated worker time that may wait at once. */
    readonly maxCostMs: number;
    /** Longest wait before work on a call begins; a call that cannot meet it is refused as `overloaded`. */
    readonly deadlineMs: number;
  };
  /** What becomes of long embedding inputs where the caller does not say it. Default: `refuse` */
  readonly longInputs?: LongInputs;
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

type Model =
  | { readonly manifest: SplitEncoderManifest; readonly decider: Decider; readonly embedder?: undefined }
  | { readonly manifest: TextEncoderManifest; readonly embedder: Embedder; readonly decider?: undefined };

export class PooledEngine implements Engine {
  readonly models: readonly ModelCard[];
  readonly ready: Promise<void>;
  private readonly options: PooledEngineOptions;
  private readonly modelsById: ReadonlyMap<string, Model>;
  private readonly dispatcher: Dispatcher;
  private readonly counting: TokenCounting;
  private readonly watchdog: Watchdog;
  private readonly open = new Set<Promise<unknown>>();
  private phase: Exclude<EngineState, 'unresponsive'> = 'loading';
  private device = '';

  constructor(options: PooledEngineOptions) {
    const { folders, pool, queue, probe, stateCacheBytes, onEvent, clock = systemClock } = options;
    this.options = options;
    const { longInputs = 'refuse' } = options;
    this.models = folders.map((folder) => toModelCard(folder, longInputs));
    const directory = new StateDirectory(pool.workers, stateCacheBytes);
    const onWorkerFault = (worker: number) => directory.forget(worker);
    const dispatcher = new Dispatcher({ pool, clock, limits: queue, onWorkerFault });
    const memories = new SharedMemories({ budgetBytes: options.sharedMemoryBytes ?? SHARED_MEMORY_BYTES, clock });
    this.counting = new TokenCounting(dispatcher, longInputs);
    const parts = { dispatcher, directory, memories, counting: this.counting, longInputs };
    this.modelsById = new Map(folders.map(({ manifest }) => [manifest.id, toModel(manifest, parts)]));
    this.dispatcher = dispatcher;
    this.watchdog = new Watchdog({
      ...probe,
      clock,
      lateMs: () => dispatcher.lateMs(),
      probe: () => dispatcher.probe(PROBE_COST_MS),
      onChange: ({ responsive, reason }) => onEvent({ level: responsive ? 'info' : 'error', message: reason }),
    });
    this.ready = this.load();
    // Whoever awaits it sees the failure; without this line one that comes before would end the process.
    this.ready.catch(() => undefined);
  }

  ticketFor(job: DecideJob, caller: Caller): Ticket<DecideResult>;
  ticketFor(job: EmbedJob, caller: Caller): Ticket<EmbedResult>;
  ticketFor(job: Job, caller: Caller): Ticket<JobResult>;
  ticketFor(job: Job, caller: Caller): Ticket<JobResult> {
    let running: Promise<JobResult> | undefined;
    const enter = (): void => {
      if (running !== undefined) return;
      caller.signal.throwIfAborted();
      const refusal = this.findRefusal(job, caller);
      if (refusal !== undefined) throw refusal;
      running = 'state' in job ? this.decide(job, caller) : this.embed(job, caller);
      // It may fail before anybody waits for it.
      running.catch(() => undefined);
    };
    return {
      countTokens: () =>
        'state' in job ? this.countDecisionTokens(job, caller) : this.countEmbeddingTokens(job, caller),
      enter,
      run: async () => {
        enter();
        return await (running as Promise<JobResult>);
      },
    };
  }

  private async decide(job: DecideJob, caller: Caller): Promise<DecideResult> {
    return this.track(this.requireDecider(job).decide(job, caller));
  }

  private async embed(job: EmbedJob, caller: Caller): Promise<EmbedResult> {
    const { manifest } = this.requireModel(job.modelId);
    requireDimensions(job, manifest);
    const embedder = this.requireEmbedder(job);
    // Before anything is run: the refusal of a call that is too large costs no inference.
    if (this.mustCount(job, manifest)) await this.countEmbeddingTokens(job, caller);
    return this.track(embedder.embed(job, caller));
  }

  private async countDecisionTokens(job: DecideJob, caller: Caller): Promise<number> {
    this.requireModel(job.modelId);
    return this.track(this.counting.countDecision(job, caller));
  }

  private async countEmbeddingTokens(job: EmbedJob, caller: Caller): Promise<number> {
    const { manifest } = this.requireModel(job.modelId);
    requireDimensions(job, manifest);
    const tokens = await this.track(this.counting.countEmbedding(job, caller));
    if (manifest.family === 'text-encoder' && this.mustCount(job, manifest)) requireRequestTokens(tokens, manifest);
    return tokens;
  }

  private mustCount(job: EmbedJob, manifest: Manifest): boolean {
    const isInWindows = manifest.family === 'text-encoder' && this.options.longInputs === 'windows';
    return isInWindows && mayBeTooLarge(job, manifest);
  }

  private findRefusal(job: DecideJob | EmbedJob, caller: Caller): AppError | undefined {
    try {
      return this.dispatcher.findRefusal(this.candidate(job, caller));
    } catch (error) {
      if (error instanceof AppError && error.code === 'overloaded') return error;
      throw error;
    }
  }

  private candidate(job: DecideJob | EmbedJob, caller: Caller): Candidate {
    if ('inputs' in job) return this.requireEmbedder(job).candidate(job, caller);
    return this.requireDecider(job).candidate(job, caller);
  }

  status(): EngineStatus {
    const { pool, threadsPerWorker } = this.options;
    return {
      state: this.phase === 'ready' && !this.watchdog.responsive ? 'unresponsive' : this.phase,
      queuedJobs: this.dispatcher.queuedJobs,
      queuedCostMs: this.dispatcher.queuedCostMs,
      busyWorkers: this.dispatcher.busyWorkers,
      workers: pool.workers,
      threadsPerWorker,
      device: this.device,
      stateCache: this.stateCache(),
      refusals: this.dispatcher.refusals,
      expectedDrainMs: this.dispatcher.expectedDrainMs,
    };
  }

  async drain(): Promise<void> {
    this.phase = 'draining';
    this.watchdog.stop();
    // First the jobs, because one that is shared has moments when nothing of it is queued; then probes.
    await Promise.allSettled(this.open);
    await this.dispatcher.idle();
    await this.options.pool.close();
  }

  private async track<T>(job: Promise<T>): Promise<T> {
    this.open.add(job);
    try {
      return await job;
    } finally {
      this.open.delete(job);
    }
  }

  private async load(): Promise<void> {
    const { folders, pool, openCounter, onEvent } = this.options;
    let report: PoolReport;
    try {
      report = await pool.loaded;
      await this.counting.open(folders, openCounter);
    } catch (error) {
      await pool.close();
      throw error;
    }
    this.device = report.device;
    for (const warning of report.warnings) onEvent({ level: 'warn', message: warning });
    for (const { modelId, precision, loadMs, optimizedGraphs, timedCases } of report.models) {
      const details = { modelId, precision, loadMs: Math.round(loadMs), optimizedGraphs, device: report.device };
      onEvent({ level: 'info', message: 'model loaded and checked', details });
      const { decider, embedder } = this.modelsById.get(modelId) ?? {};
      (decider ?? embedder)?.calibrate(timedCases);
    }
    if (this.phase !== 'loading') return;
    this.phase = 'ready';
    this.watchdog.start();
  }

  private stateCache(): StateCacheCounts {
    const total = { stateTokens: 0, keptTokens: 0 };
    for (const { decider } of this.modelsById.values()) {
      total.stateTokens += decider?.stateCache.stateTokens ?? 0;
      total.keptTokens += decider?.stateCache.keptTokens ?? 0;
    }
    return total;
  }

  private requireDecider({ modelId }: DecideJob): Decider {
    return this.requireModel(modelId).decider ?? refuseKind(modelId);
  }

  private requireEmbedder({ modelId }: EmbedJob): Embedder {
    return this.requireModel(modelId).embedder ?? refuseKind(modelId);
  }

  private requireModel(modelId: string): Model {
    if (this.phase !== 'ready') {
      const what = this.phase === 'loading' ? 'loading its models' : 'stopping';
      throw new AppError('overloaded', `The server is ${what}.`, { retryAfterMs: RETRY_WHILE_STARTING_MS });
    }
    const model = this.modelsById.get(modelId);
    if (model === undefined) throw new AppError('model_not_found', 'No such model.', { param: 'model' });
    return model;
  }
}

function requireDimensions({ dimensions }: EmbedJob, manifest: Manifest): void {
  if (manifest.family !== 'text-encoder' || dimensions === undefined || dimensions <= manifest.dimensions) return;
  const message = `The field 'dimensions' must be at most ${manifest.dimensions} for ${manifest.id}.`;
  throw new AppError('invalid_request', message, { param: 'dimensions' });
}

function refuseKind(modelId: string): never {
  throw new AppError('model_type_mismatch', `${modelId} works on another endpoint.`, { param: 'model' });
}

interface ModelParts extends Pick<DeciderOptions, 'dispatcher' | 'directory' | 'memories'> {
  readonly counting: TokenCounting;
  readonly longInputs: LongInputs;
}

function toModel(manifest: Manifest, { counting, longInputs, ...parts }: ModelParts): Model {
  if (manifest.family === 'text-encoder') {
    const limitTokens = inputTokenLimit(manifest, longInputs);
    const options = { windowTokens: windowTokens(manifest), limitTokens, longInputs };
    return { manifest, embedder: new Embedder(parts.dispatcher, options) };
  }
  const findCounter = (characters: number) => counting.findCounter(manifest.id, characters);
  return { manifest, decider: new Decider({ ...parts, manifest, findCounter }) };
}

function toModelCard({ manifest, digest }: ModelFolder, longInputs: LongInputs): ModelCard {
  return {
    id: manifest.id,
    type: manifest.type,
    description: manifest.description,
    ownedBy: manifest.owned_by,
    releaseDate: manifest.release_date,
    price: priceOf(manifest),
    digest,
    limits: manifest.family === 'text-encoder' ? embeddingLimits(manifest, longInputs) : { ...manifest.limits },
  };
}
