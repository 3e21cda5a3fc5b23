// The composition root: builds every object once and hands each what it needs. The only file that knows everybody; the
// process around it (signals, exit codes, what is printed) is main.ts's.

import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { LoadedConfig } from './config/load.ts';
import type { Config } from './config/schema.ts';
import type { ModelCard } from './domain/model-card.ts';
import type { Price } from './domain/money.ts';
import { createLocalEngine, type LocalEngine } from './engine/local-engine.ts';
import { MergingEngine } from './engine/sharing/merging-engine.ts';
import type { Authenticator } from './http/authenticate.ts';
import { REPLY_STATUSES } from './http/error-reply.ts';
import { createHttpServer } from './http/server.ts';
import type { Logger } from './observability/logger.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { StartError } from './runtime/start-error.ts';
import type { Accounting } from './services/accounting/accounting.ts';
import { LedgerAccounting, type LedgerMetrics } from './services/accounting/ledger.ts';
import { Unmetered } from './services/accounting/unmetered.ts';
import type { Administration } from './services/administration.ts';
import { type Aliases, Catalog, type ModelSource, type Pricing } from './services/catalog.ts';
import { ChatService } from './services/chat/chat.ts';
import { InferenceService } from './services/inference/inference.ts';
import type { LedgerStore } from './storage/stores.ts';
import type { CheckedUpstream } from './upstream/check-upstream.ts';
import { HttpChatUpstream } from './upstream/http-chat-upstream.ts';
import type { ChatUpstreamOptions } from './upstream/upstream-options.ts';

export interface App {
  readonly server: FastifyInstance;
  readonly engine: LocalEngine;
  /** Local ones first, then those of upstreams. */
  readonly models: readonly ModelCard[];
  /**
   * Accepts nothing more, finishes what was accepted, then closes everything, last built first. Connections that are
   * still open after the grace period are cut; what a model has begun is finished even then, because ending a thread
   * inside a model ends the process.
   * @returns whether everything was finished within the grace period
   */
  stop(): Promise<boolean>;
}

export interface AppParts {
  readonly version: string;
  readonly logger: Logger;
  /** For what the engine tells; absent: the same. */
  readonly engineLogger?: Logger;
  readonly authenticator: Authenticator;
  /** Absent: without the routes that need a store, and every model at its own price. */
  readonly administration?: Administration;
  /** Absent: nothing is metered. */
  readonly ledger?: {
    readonly store: LedgerStore;
    /** Of this process, for its reservations. */
    readonly instanceId: string;
  };
  /** undefined: optimised graphs are not kept. */
  readonly cacheFolder: string | undefined;
}

type StoppableAccounting = Accounting & { stop(): Promise<void> };
type Closer = () => Promise<unknown>;

/**
 * Builds the server, which answers at once and refuses work until `engine.ready`. What was built before a failure is
 * closed again.
 * @throws StartError
 */
export async function buildApp(loaded: LoadedConfig, parts: AppParts): Promise<App> {
  const closers: Closer[] = [];
  try {
    return await build(loaded, parts, closers);
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}

async function build(loaded: LoadedConfig, parts: AppParts, closers: Closer[]): Promise<App> {
  const { config } = loaded;
  let isDraining = false;
  const sharesAnswers = config.answers.merge || config.answers.cacheBytes > 0;
  const metrics: Metrics = createMetrics({
    engineStatus: () => engine.status(),
    answerCounts: sharesAnswers ? () => sharing.answerCounts : undefined,
  });
  const accounting = buildAccounting(config, parts, metrics);
  // Built first, so closed last: whatever ends before has a row to write.
  closers.push(() => accounting.stop());
  const { cacheFolder, engineLogger = parts.logger } = parts;
  const engine = await startEngine(config, { folders: findModelFolders(config), logger: engineLogger, cacheFolder });
  closers.push(() => engine.drain());
  const sharing = new MergingEngine(engine, config.answers);
  const answering = sharesAnswers ? sharing : engine;
  const upstreams = listUpstreams(loaded).map((options) => {
    const { name, modelId } = options;
    const watcher = {
      called: () => metrics.upstreamCalled(name, modelId),
      failed: (code: string) => metrics.upstreamFailed(name, modelId, code),
    };
    return new HttpChatUpstream({ ...options, watcher });
  });
  closers.push(() => Promise.all(upstreams.map((upstream) => upstream.close())));
  const catalog = buildCatalog([engine, ...upstreams], parts.administration?.prices, config.aliases);
  const chat = new ChatService(upstreams, catalog, accounting);
  closers.push(() => chat.close());
  const server = await createHttpServer({
    authenticator: parts.authenticator,
    catalog,
    inference: new InferenceService(answering, catalog, accounting),
    chat,
    administration: parts.administration,
    readiness: () => (isDraining ? 'draining' : engine.status().state),
    isDraining: () => isDraining,
    metrics,
    // A child, so that its level can be changed apart.
    logger: parts.logger.child({}),
    options: { ...config.http, ...config.decisions, ...config.embeddings, version: parts.version, sharesAnswers },
  });
  closers.push(() => server.close());
  const stop = once(async () => {
    isDraining = true;
    const grace = new GracePeriod(config.http.gracePeriodMs, () => {
      chat.cut();
      server.server.closeAllConnections();
    });
    await closeAll(closers);
    return grace.end();
  });
  return { server, engine, models: [engine, ...upstreams].flatMap(({ models }) => models), stop };
}

function buildAccounting(
  { ledger, idempotency }: Config,
  parts: AppParts,
  metrics: LedgerMetrics,
): StoppableAccounting {
  if (parts.ledger === undefined) return new Unmetered();
  return new LedgerAccounting({
    ...ledger,
    ...parts.ledger,
    idempotency,
    metrics,
    statuses: REPLY_STATUSES,
    onFault: (error) => parts.logger.error({ err: error }, 'an outcome could not be written to the ledger'),
  });
}

export interface EngineParts {
  readonly folders: readonly string[];
  readonly logger: Logger;
  readonly cacheFolder: string | undefined;
}

/** @throws StartError */
export async function startEngine({ engine, embeddings }: Config, parts: EngineParts): Promise<LocalEngine> {
  return await createLocalEngine({
    modelFolders: parts.folders,
    device: engine.device,
    allowDeviceFallback: engine.allowDeviceFallback,
    workers: engine.workers,
    threadsPerWorker: engine.threadsPerWorker,
    cacheFolder: parts.cacheFolder,
    stateCacheBytes: engine.stateCacheBytes,
    tokenizer: engine.tokenizer,
    longInputs: embeddings.longInputs,
    queue: {
      maxJobs: engine.queueMaxJobs,
      maxCostMs: engine.queueMaxCostMs,
      deadlineMs: engine.queueDeadlineMs,
    },
    probe: { intervalMs: engine.probeIntervalMs, timeoutMs: engine.probeTimeoutMs },
    onEvent: ({ level, message, details }) => parts.logger[level]({ ...details }, message),
  });
}

/** The configured folders, or every folder with a manifest, by name. @throws StartError when there is none */
export function findModelFolders({ modelsDir, models }: Config): readonly string[] {
  if (models !== undefined) return models.map((nameOrPath) => resolve(modelsDir, nameOrPath));
  let names: string[];
  try {
    names = readdirSync(modelsDir).sort();
  } catch (error) {
    throw new StartError(
      `The models folder ${modelsDir} cannot be read: ${error instanceof Error ? error.message : error}.`,
    );
  }
  const folders = names.map((name) => join(modelsDir, name)).filter((folder) => isFile(join(folder, 'model.json')));
  if (folders.length === 0) throw new StartError(`The models folder ${modelsDir} holds no folder with a model.json.`);
  return folders;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

export function priceOfUpstreamModel(model: Config['upstreams'][number]['models'][number]): Price {
  const inputMicroUsd = model.inputMicroUsdPerMillionTokens;
  return {
    inputMicroUsd,
    cachedInputMicroUsd: model.cachedInputMicroUsdPerMillionTokens ?? inputMicroUsd,
    outputMicroUsd: model.outputMicroUsdPerMillionTokens,
  };
}

/** What a check asks of each configured upstream. */
export function listCheckedUpstreams({
  config,
  upstreamApiKeys,
}: LoadedConfig): (CheckedUpstream & UpstreamOfConfig)[] {
  return config.upstreams.map(({ name, baseUrl, checkAtStart, models }) => ({
    name,
    baseUrl,
    checkAtStart,
    apiKey: upstreamApiKeys.get(name),
    upstreamModels: models.map(({ id, upstreamModel }) => upstreamModel ?? id),
  }));
}

interface UpstreamOfConfig {
  readonly name: string;
  readonly checkAtStart: boolean;
}

/** One for each model of each configured upstream. */
function listUpstreams({ config, upstreamApiKeys }: LoadedConfig): ChatUpstreamOptions[] {
  return config.upstreams.flatMap((upstream) =>
    upstream.models.map((model) => ({
      name: upstream.name,
      modelId: model.id,
      description: model.description,
      ownedBy: model.ownedBy ?? upstream.name,
      releaseDate: model.releaseDate,
      price: priceOfUpstreamModel(model),
      baseUrl: upstream.baseUrl,
      upstreamModel: model.upstreamModel ?? model.id,
      apiKey: upstreamApiKeys.get(upstream.name),
      timeouts: {
        connectMs: upstream.connectTimeoutMs,
        firstByteMs: upstream.firstByteTimeoutMs,
        idleMs: upstream.idleTimeoutMs,
        totalMs: upstream.totalTimeoutMs,
        streamTotalMs: upstream.streamTotalTimeoutMs,
      },
      takesStreamOptions: upstream.takesStreamOptions,
      maxConcurrentRequests: upstream.maxConcurrentRequests,
      reasoning: model.reasoning,
      reserveOutputTokens: model.reserveOutputTokens,
      whenClientLeaves: upstream.whenClientLeaves,
    })),
  );
}

/** An id that two sources offer is a mistake of whoever configured them. @throws StartError */
function buildCatalog(sources: readonly ModelSource[], pricing: Pricing | undefined, aliases: Aliases): Catalog {
  try {
    return new Catalog(sources, pricing, aliases);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error));
  }
}

/** Runs an action unless ended before. */
class GracePeriod {
  readonly #timer: NodeJS.Timeout;
  #isOver = false;

  constructor(periodMs: number, onOver: () => void) {
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      onOver();
    }, periodMs);
  }

  /** @returns whether it was still running */
  end(): boolean {
    clearTimeout(this.#timer);
    return !this.#isOver;
  }
}

function once<T>(action: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= action();
    return running;
  };
}

/** Last built, first closed; the failure of one does not leave the others open. @throws the first failure */
async function closeAll(closers: readonly Closer[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers.toReversed()) await close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
