// The engine over a pool of workers: jobs to tasks, replies to answers, and the states from loading to drained. Knows
// nothing of HTTP, keys or money.

import { AppError } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import { type Manifest, type ModelFolder, priceOf } from '../runtime/manifest.ts';
import type { EmbedTask } from '../runtime/messages.ts';
import type { InferencePool, PoolReport } from '../runtime/worker-pool.ts';
import { type Clock, systemClock } from './clock.ts';
import { CostModel } from './cost-model.ts';
import { Decider } from './decider.ts';
import { Dispatcher } from './dispatcher.ts';
import { restorePlaces, splitEmbedInputs } from './embed-parts.ts';
import type {
  Caller,
  DecideJob,
  DecideResult,
  EmbedJob,
  EmbedResult,
  Engine,
  EngineState,
  EngineStatus,
} from './engine.ts';
import { type OpenTokenCounter, TokenCounting } from './token-counting.ts';
import { Watchdog } from './watchdog.ts';

/** About 2,000 tokens: a tenth of a second of one worker at the size of the shipped model. */
const EMBED_PART_CHARACTERS = 8192;
/** What a probe may take before it is late, apart from the configured time. */
const PROBE_COST_MS = 100;
const RETRY_WHILE_STARTING_MS = 1000;

export interface EngineEvent {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

export interface PooledEngineOptions {
  readonly folders: readonly ModelFolder[];
  readonly pool: InferencePool;
  readonly threadsPerWorker: number;
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

interface Model {
  readonly manifest: Manifest;
  readonly costs: CostModel;
  readonly decider: Decider;
}

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
    const { folders, pool, queue, probe, onEvent, clock = systemClock } = options;
    this.options = options;
    this.models = folders.map(toModelCard);
    const dispatcher = new Dispatcher({ pool, clock, limits: queue });
    this.modelsById = new Map(folders.map(({ manifest }) => [manifest.id, toModel(manifest, dispatcher)]));
    this.dispatcher = dispatcher;
    this.counting = new TokenCounting(dispatcher);
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

  async decide(job: DecideJob, caller: Caller): Promise<DecideResult> {
    return this.track(this.requireModel(job.modelId).decider.decide(job, caller));
  }

  async embed(job: EmbedJob, caller: Caller): Promise<EmbedResult> {
    return this.track(this.embedParts(job, caller));
  }

  async countDecisionTokens(job: DecideJob, caller: Caller): Promise<number> {
    this.requireModel(job.modelId);
    return this.track(this.counting.countDecision(job, caller));
  }

  async countEmbeddingTokens(job: EmbedJob, caller: Caller): Promise<number> {
    requireDimensions(job, this.requireModel(job.modelId).manifest);
    return this.track(this.counting.countEmbedding(job, caller));
  }

  private async embedParts(job: EmbedJob, caller: Caller): Promise<EmbedResult> {
    const { costs, manifest } = this.requireModel(job.modelId);
    requireDimensions(job, manifest);
    const embedParts = splitEmbedInputs(job.inputs, EMBED_PART_CHARACTERS);
    const { modelId, dimensions, encoding } = job;
    const callParts = embedParts.map(({ inputs, characters }) => {
      const task: EmbedTask = { kind: 'embed', modelId, inputs, dimensions, encoding };
      return { task, costMs: costs.estimateMs({ stateCharacters: characters, questionCharacters: 0 }) };
    });
    const { parts, queueMs } = await this.dispatcher.submit(callParts, { ...caller, queueClass: 'embedding' });
    const timings = { queueMs, tokenizeMs: 0, inferMs: 0 };
    let inputTokens = 0;
    for (const [place, { reply, wallMs }] of parts.entries()) {
      const stateCharacters = embedParts[place]?.characters ?? 0;
      costs.observe({ stateCharacters, questionCharacters: 0, inputTokens: reply.inputTokens, wallMs });
      inputTokens += reply.inputTokens;
      timings.tokenizeMs += reply.tokenizeMs;
      timings.inferMs += reply.inferMs;
    }
    const replies = parts.map(({ reply }) => reply.embeddings);
    const embeddings = restorePlaces(embedParts, replies);
    return { embeddings, inputTokens, timings, source: { answer: 'run', keptTokens: 0 } };
  }

  findRefusal(): AppError | undefined {
    return undefined;
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
      stateCache: { stateTokens: 0, keptTokens: 0 },
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
      for (const timed of timedCases) this.modelsById.get(modelId)?.costs.observe(timed);
    }
    if (this.phase !== 'loading') return;
    this.phase = 'ready';
    this.watchdog.start();
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

function toModel(manifest: Manifest, dispatcher: Dispatcher): Model {
  const windowTokens = manifest.family === 'split-encoder' ? manifest.windows.tokens : manifest.limits.input_tokens;
  const costs = new CostModel(windowTokens);
  return { manifest, costs, decider: new Decider(dispatcher, costs, windowTokens) };
}

function toModelCard({ manifest, digest }: ModelFolder): ModelCard {
  return {
    id: manifest.id,
    type: manifest.type,
    description: manifest.description,
    ownedBy: manifest.owned_by,
    releaseDate: manifest.release_date,
    price: priceOf(manifest),
    digest,
    limits: { ...manifest.limits },
  };
}
