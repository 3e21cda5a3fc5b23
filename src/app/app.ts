// The composition root: makes every object of the program, for the server and for commands alike, and hands each what it
// needs. The only file that knows everybody; what happens to them then (signals, notices, commands) is its neighbours'.

import type { FastifyInstance } from 'fastify';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { messageOf } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import { defaultWorkers } from '../engine/core-count.ts';
import { LearnedEngine } from '../engine/learned/learned-engine.ts';
import type { MemoryPlan } from '../engine/loading/memory-plan.ts';
import { createLocalEngine, type LocalEngine } from '../engine/local-engine.ts';
import { planMemory } from '../engine/plan-memory.ts';
import { MergingEngine } from '../engine/sharing/merging-engine.ts';
import { createHttpServer } from '../http/server.ts';
import { readWebFiles } from '../http/web/web-files.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { readModelFolder } from '../runtime/model-folder/model-folder.ts';
import { StartError } from '../runtime/start-error.ts';
import type { Accounting } from '../services/accounting/accounting.ts';
import { LedgerAccounting } from '../services/accounting/ledger-accounting.ts';
import type { LedgerMetrics } from '../services/accounting/ledger-booking.ts';
import { Unmetered } from '../services/accounting/unmetered.ts';
import type { Administration } from '../services/administration.ts';
import { AuditService } from '../services/audit.ts';
import { type Aliases, Catalog, type ModelSource, type Pricing } from '../services/catalog.ts';
import { ChatService } from '../services/chat/chat.ts';
import { Housekeeping } from '../services/housekeeping/housekeeping.ts';
import { InferenceService } from '../services/inference/inference.ts';
import { ApiKeyService } from '../services/keys/keys.ts';
import type { LearnedModels } from '../services/learned-models.ts';
import { LearningService } from '../services/learning/learning.ts';
import { PriceService } from '../services/prices.ts';
import { ReloadService } from '../services/reload.ts';
import { UsageService } from '../services/reports/reports.ts';
import { openStores } from '../storage/open-stores.ts';
import type { Stores } from '../storage/stores.ts';
import { HttpChatUpstream } from '../upstream/http-chat-upstream.ts';
import type { ChatUpstreamOptions } from '../upstream/upstream-options.ts';
import type { AppParts, ServerParts } from './app-parts.ts';
import { type Closers, closeWithin, once, openWith } from './closers.ts';
import { cacheFolderOf, type EngineParts, engineOptionsOf } from './configured-engine.ts';
import { findLaterFolders, findModelFolders } from './configured-models.ts';
import { ChildLearner } from './learn/learn-child.ts';
import { JournalFile } from './learn/learning-journal.ts';
import { type ServingParts, serveLearnedModels } from './learned/served-learned-models.ts';
import { statusOfProcess } from './process-status.ts';
import { bringBackFormer } from './pull/folder-draft.ts';
import type { ReloadableServer } from './reloads.ts';
import { ServedConfig } from './served-config.ts';
import { openMetrics, ServedTelemetry } from './served-telemetry.ts';
import { ServedUpstreams } from './served-upstreams.ts';

export interface App {
  readonly http: FastifyInstance;
  readonly engine: LocalEngine;
  /** Local ones first, then those of upstreams. */
  readonly models: readonly ModelCard[];
  /**
   * A reload takes over what of a configuration a running server can; the rest of it is left alone. Calls under way keep
   * what they began with. Throws StartError where the server would not have started; nothing has changed then.
   */
  readonly served: ReloadableServer;
  /**
   * Accepts nothing more, finishes what was accepted, then closes everything, last built first. Connections that are
   * still open after the grace period are cut; what a model has begun is finished even then, because ending a thread
   * inside a model ends the process.
   * @returns whether everything was finished within the grace period
   */
  stop(): Promise<boolean>;
}

/** With its stores: keys, prices and the ledger. */
export interface Server extends App {
  readonly keys: ApiKeyService;
}

/**
 * The whole server of a configuration: the app of `buildApp` over the configured stores, which end with it.
 * @throws StartError, StorageError
 */
export async function openServer(loaded: LoadedConfig, parts: ServerParts): Promise<Server> {
  const { config } = loaded;
  return await openWith(async (closers) => {
    const telemetry = await ServedTelemetry.open(config, parts);
    closers.add(() => telemetry.close());
    const stores = await openConfiguredStores(config, true);
    closers.add(() => stores.close());
    const housekeeping = createHousekeeping(config, stores, parts.logger);
    // By then every request has its row. Whoever says goodbye earlier has its open requests closed by others.
    closers.add(() => housekeeping.stop());
    const administration = createAdministration(config, stores, parts.logger);
    const { keys, prices } = administration;
    closers.add(() => prices.close());
    await housekeeping.start();
    await prices.start();
    await bringBackFormer(config.dataDir);
    const ledger = { store: stores.ledger, instanceId: housekeeping.instanceId };
    const known = { authenticator: keys, administration, ledger, telemetry, cacheFolder: cacheFolderOf(config) };
    const app = await buildApp(loaded, { ...parts, ...known });
    const stop = once(() => app.stop().finally(() => closers.closeAll()));
    return { ...app, keys, stop };
  });
}

/**
 * Builds what answers requests, at once, and refuses work until `engine.ready`. What was built before a failure is closed
 * again.
 * @throws StartError
 */
export async function buildApp(loaded: LoadedConfig, parts: AppParts): Promise<App> {
  return await openWith((closers) => build(loaded, parts, closers));
}

async function build(loaded: LoadedConfig, parts: AppParts, closers: Closers): Promise<App> {
  const { config } = loaded;
  const { telemetry } = parts;
  const served = new ServedConfig(config);
  let isStopping = false;
  const isDraining = () => isStopping;
  const startedAtMs = Date.now();
  const sharesAnswers = config.answers.merge || config.answers.cacheBytes > 0;
  const answerCounts = sharesAnswers ? () => sharing.answerCounts : undefined;
  const metrics: Metrics = openMetrics(telemetry, { engineStatus: () => engineStatus(), answerCounts });
  const accounting = buildAccounting(config, parts, metrics);
  // Built first, so closed last: whatever ends before has a row to write.
  closers.add(() => accounting.stop());
  const engine = parts.engine ?? (await startConfigured(config, parts));
  closers.add(() => engine.drain());
  const sharing = new MergingEngine(engine, config.answers);
  // Outermost: what is shared and kept is the base's, and no new version of a model makes it wrong.
  const heads = new LearnedEngine(sharesAnswers ? sharing : engine);
  const upstreams = openUpstreams(loaded, metrics, parts.logger);
  closers.add(() => upstreams.close());
  const others = [engine, upstreams].flatMap(({ models }) => models);
  const learned = await serveLearnedModels({ config, heads, others, ...wantedLearned(parts) });
  const local = [engine, learned];
  const catalog = buildCatalog([...local, upstreams], parts.administration?.prices, config.aliases);
  const engineStatus = () => learned.describe(heads.status());
  const chat = new ChatService(upstreams, catalog, accounting);
  closers.add(() => chat.close());
  const learning = await openLearning(
    config,
    { models: learned, maxRows: () => served.config.learning.maxRows },
    parts,
  );
  const http = await createHttpServer({
    authenticator: parts.authenticator,
    catalog,
    inference: new InferenceService(heads, catalog, accounting),
    chat,
    administration: parts.administration,
    learning,
    reloads: openReloads(parts),
    readiness: () => (isStopping ? 'draining' : engine.status().state),
    isDraining,
    status: () => ({
      ...statusOfProcess(startedAtMs, metrics),
      engine: engineStatus(),
      answers: answerCounts?.() ?? null,
    }),
    metrics,
    tracer: telemetry,
    webFiles: config.web ? await readWebFiles() : undefined,
    // A child, so that its level can be changed apart.
    logger: parts.logger.child({}),
    options: { ...served.httpOptions, version: parts.version, sharesAnswers },
    reloadable: () => served.httpOptions,
  });
  closers.add(() => http.close());
  // First of all: it takes the processors from those whose answers are owed.
  closers.add(() => learning?.close());
  const stop = once(() => {
    isStopping = true;
    return closeWithin(config.http.gracePeriodMs, closers, () => {
      chat.cut();
      http.server.closeAllConnections();
    });
  });
  const checkModels = (cards: readonly ModelCard[], aliases: Config['aliases']) =>
    void buildCatalog([...local, { models: cards }], undefined, aliases);
  served.connect({ upstreams, chat, catalog, engine, telemetry, isDraining, checkModels });
  return { http, engine, models: [...local, upstreams].flatMap(({ models }) => models), served, stop };
}

function wantedLearned({ learnedIds, logger }: AppParts): Pick<ServingParts, 'wanted' | 'warn'> {
  return { wanted: learnedIds, warn: (message, details) => logger.warn(details, message) };
}

function openUpstreams(loaded: LoadedConfig, metrics: Metrics, logger: Logger): ServedUpstreams {
  const open = (options: ChatUpstreamOptions) => new HttpChatUpstream(options);
  return new ServedUpstreams(loaded, { open, metrics, logger });
}

/** Where there is an audit trail, and administrators who write to it. */
async function openLearning(
  config: Config,
  learned: { readonly models: LearnedModels; readonly maxRows: () => number },
  { administration, logger }: AppParts,
): Promise<LearningService | undefined> {
  if (administration === undefined) return undefined;
  const learning = new LearningService({
    learner: new ChildLearner(config, (fault) => logger.error(fault, 'learning failed unexpectedly')),
    ...learned,
    audit: administration.audit,
    journal: new JournalFile(config.dataDir),
    onEvent: ({ level, message, details }) => logger[level](details, message),
  });
  await learning.start();
  return learning;
}

function openReloads({ reloading, administration }: AppParts): ReloadService | undefined {
  if (reloading === undefined || administration === undefined) return undefined;
  return new ReloadService({ reloading, audit: administration.audit });
}

function buildAccounting(
  { ledger, idempotency }: Config,
  parts: AppParts,
  metrics: LedgerMetrics,
): Accounting & { stop(): Promise<void> } {
  if (parts.ledger === undefined) return new Unmetered();
  return new LedgerAccounting({
    ...ledger,
    ...parts.ledger,
    idempotency,
    metrics,
    onFault: (error) => parts.logger.error({ err: error }, 'an outcome could not be written to the ledger'),
  });
}

async function startConfigured(config: Config, { cacheFolder, logger, engineLogger }: AppParts): Promise<LocalEngine> {
  return await startEngine(config, {
    folders: findModelFolders(config),
    laterFolders: findLaterFolders(config),
    logger: engineLogger ?? logger,
    cacheFolder,
  });
}

/** @throws StartError */
export async function startEngine(config: Config, parts: EngineParts): Promise<LocalEngine> {
  return await createLocalEngine(engineOptionsOf(config, parts));
}

/** As a start would plan it. @throws StartError when the models do not fit, or a folder is broken */
export async function planConfiguredMemory(config: Config, paths: readonly string[]): Promise<MemoryPlan> {
  const { engine, answers } = config;
  return await planMemory(await Promise.all(paths.map(readModelFolder)), {
    workers: engine.workers ?? defaultWorkers(engine.threadsPerWorker),
    later: new Set(findLaterFolders(config)),
    cacheFolder: cacheFolderOf(config),
    stateCacheBytes: engine.stateCacheBytes,
    memoryBytes: engine.memoryBytes,
    otherCacheBytes: answers.cacheBytes,
  });
}

/** An id that two sources offer is a mistake of whoever configured them. @throws StartError */
export function buildCatalog(sources: readonly ModelSource[], pricing: Pricing | undefined, aliases: Aliases): Catalog {
  try {
    return new Catalog(sources, pricing, aliases);
  } catch (error) {
    throw new StartError(messageOf(error));
  }
}

/**
 * @param exclusive whether no other server may use the embedded store meanwhile
 * @throws StorageError
 */
export async function openConfiguredStores(config: Config, exclusive: boolean): Promise<Stores> {
  const { dataDir, databaseUrl, database } = config;
  const postgres = databaseUrl === undefined ? undefined : { url: databaseUrl, ...database };
  return await openStores({ dataDir, exclusive, postgres });
}

function createHousekeeping(config: Config, { ledger, usage }: Stores, logger: Logger): Housekeeping {
  return new Housekeeping({
    ledger,
    usage,
    isShared: config.databaseUrl !== undefined,
    instanceTimeoutMs: config.ledger.instanceTimeoutMs,
    retentionDays: config.ledger.retentionDays,
    onEvent: ({ level, message, details, error }) =>
      logger[level]({ ...details, ...(error === undefined ? {} : { err: error }) }, message),
  });
}

/** The services over the store that keep nothing open; the prices change only once they are started. */
export function createAdministration(config: Config, stores: Stores, logger: Logger): Administration {
  return {
    keys: new ApiKeyService({
      store: stores.keys,
      fixedSecret: config.apiKey,
      servesStale: config.ledger.whenStoreFails === 'serve',
    }),
    prices: new PriceService({
      store: stores.prices,
      onFailure: (error) => logger.warn({ err: error }, 'prices could not be read; those known before stay in force'),
    }),
    usage: new UsageService(stores),
    audit: new AuditService(stores.audit),
  };
}
