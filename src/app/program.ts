// What commands may ask of the program, each answered from the configuration that the command was given. What that takes is
// made by app.ts; only the server is run elsewhere (server-run.ts).

import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { styleText } from 'node:util';
import { z } from 'zod';
import type { RowReader } from '../cli/label/row-reader.ts';
import type { ModelSources } from '../cli/model-sources.ts';
import type { DecisionModel, Finding, LearnWatcher, Program, VerifiedModel } from '../cli/program.ts';
import type { SettingFlag, SettingFlags } from '../cli/setting-flags.ts';
import type { CopyTarget, StoreTools } from '../cli/store-tools.ts';
import type { ServerConnection } from '../client/server-connection.ts';
import {
  type LoadedConfig,
  loadConfig,
  readClientSettings,
  readColumns,
  readHubSettings,
  readMovesCursor,
  readTargetDatabaseUrl,
} from '../config/load.ts';
import { listConfig, printConfig } from '../config/print.ts';
import type { Config } from '../config/schema.ts';
import { SETTINGS, type Setting, unwrap } from '../config/settings.ts';
import { unrestrictedKey } from '../domain/api-key.ts';
import type { LocalEngine } from '../engine/local-engine.ts';
import type { LearnOrder, LearnOutcome } from '../learning/learn-order.ts';
import { createLogger, type Logger } from '../observability/logger.ts';
import { renderManifest, writeTemperatures } from '../runtime/model-folder/calibrated-folder.ts';
import { isCalibrated } from '../runtime/model-folder/manifest.ts';
import { StartError } from '../runtime/start-error.ts';
import { openTokenizer } from '../runtime/tokenizer/open-tokenizer.ts';
import type { Administration } from '../services/administration.ts';
import type { StoreLocation } from '../storage/store-connection.ts';
import { buildApp, createAdministration, openConfiguredStores, startEngine } from './app.ts';
import { cacheFolderOf } from './configured-engine.ts';
import { findDecisionFolder, findModelFolders, listModelIds, listModels } from './configured-models.ts';
import { findFailure } from './failures.ts';
import { onInterrupt } from './interruption.ts';
import { createRowReader, findStandIn, type ReadingModel } from './label/row-reading.ts';
import { type FoundLearned, findLearnedModel, verifyLearned } from './learned/found-learned-model.ts';
import { isLearnedFolder, listLearnedFolders } from './learned/learned-folder.ts';
import { rowBytesOf } from './pull/row-memory.ts';
import { serve } from './server-run.ts';
import { locateStore } from './store-location.ts';
import { findTerminal } from './terminal.ts';

/** Who asks when the engine runs in the process of a command. */
const LOCAL_KEY = unrestrictedKey({ id: 'key_local', name: 'this process' });
/** Where no terminal says more. */
const DEFAULT_COLUMNS = 100;
/** What a timer of Node takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const ROOT = join(import.meta.dirname, '..', '..');

/** Of this process, for whoever must end it in the middle of their work. */
const localEngines = new Set<LocalEngine>();

const version = readVersion();

export const program: Program = {
  version,
  settingFlags: listSettingFlags(),
  writeOut: (output) => process.stdout.write(output),
  writeError: (output) => process.stderr.write(output),
  isTerminal: process.stdout.isTTY === true,
  findTerminal: () => findTerminal({ input: process.stdin, output: process.stdout, isPlain: !readMovesCursor() }),
  // A terminal that was never told its size says 0.
  columns: readColumns() || process.stdout.columns || DEFAULT_COLUMNS,
  // NO_COLOR and FORCE_COLOR count.
  paint: (style, shown) => styleText(style, shown, { stream: process.stdout }),
  readStdin: () => text(process.stdin),
  readLine,
  findFailure,
  openStdin: () => process.stdin,
  pipeOut,
  progressColumns: process.stderr.isTTY ? (readColumns() ?? process.stderr.columns) : undefined,
  onInterrupt: (stop) => onInterrupt(stop, localEngines),
  clientSettings: readClientSettings(),
  describeConfig: (flags) => printConfig(loadConfig({ flags })),
  listConfig: (flags) => listConfig(loadConfig({ flags })),
  serve: (flags) => serve(() => loadConfig({ flags }), { ...program, ...findPlace() }),
  withServices,
  storeTools: createStoreTools(),
  diagnose: lookAround,
  listModels: (flags) => listModels(loadConfig({ flags }).config),
  listModelIds: (flags) => listModelIds(loadConfig({ flags }).config),
  verifyModels,
  openModelSources,
  openGpuInstaller: async (flags) =>
    (await import('./gpu/install-gpu.ts')).openGpuInstaller(loadConfig({ flags }).config),
  startLocalServer: (flags) => startLocalServer(loadConfig({ flags })),
  findDecisionModel,
  learnModel: learnConfigured,
};

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return String((manifest as { version: unknown }).version);
}

/** A checkout runs these files as they are, a package what they were compiled to; a container has no guides. */
function findPlace(): { command: string; guides: string | undefined } {
  const guides = join(ROOT, 'docs', 'guides');
  return {
    command: import.meta.filename.endsWith('.ts') ? 'npm run -s umpire --' : 'npx umpire',
    guides: existsSync(guides) ? relative(process.cwd(), guides) : undefined,
  };
}

async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
  }
}

function pipeOut(output: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(output, (error) => (error ? reject(error) : resolve()));
  });
}

/** Secrets have no flag: the command line of a process is visible to every user of the machine. */
function listSettingFlags(): SettingFlag[] {
  const settings = SETTINGS.filter(({ note }) => !note.secret).map((setting) => ({
    name: setting.flag,
    type: setting.kind === 'boolean' ? ('boolean' as const) : ('string' as const),
    help: setting.note.help,
    ...valuesOf(setting),
  }));
  return [{ name: 'config', type: 'string', help: 'YAML file of settings.', values: 'file' }, ...settings];
}

function valuesOf({ schema, note }: Setting): Pick<SettingFlag, 'values'> {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodEnum) return { values: inner.options.map(String) };
  return note.path === true ? { values: 'folder' } : {};
}

async function withServices<T>(flags: SettingFlags, use: (services: Administration) => Promise<T>): Promise<T> {
  const { config } = loadConfig({ flags });
  const stores = await openConfiguredStores(config, false);
  try {
    return await use(createAdministration(config, stores, errorLogger()));
  } finally {
    await stores.close();
  }
}

/** Loaded only for its commands: the server's own thread keeps no query builder in memory. */
function createStoreTools(): StoreTools {
  const tools = () => import('../storage/store-tools.ts');
  const configured = (flags: SettingFlags) => locateStore(loadConfig({ flags }).config);
  return {
    targetDatabaseUrl: readTargetDatabaseUrl(),
    backup: async (flags, file, options) => (await tools()).backupStore(configured(flags), file, options),
    restore: async (flags, file) => (await tools()).restoreStore(configured(flags), file, Date.now()),
    check: async (flags) => (await tools()).checkStore(configured(flags)),
    copy: async (flags, target) => {
      const { config } = loadConfig({ flags });
      return (await tools()).copyBetweenStores(locateStore(config), locateTarget(config, target), Date.now());
    },
  };
}

function locateTarget({ database }: Config, target: CopyTarget): StoreLocation {
  if (target.type === 'sqlite') return { type: 'sqlite', dataDir: resolve(target.dataDir) };
  return { ...target, connectTimeoutMs: database.connectTimeoutMs };
}

/** Loaded only for its commands, as above. */
async function openModelSources(flags: SettingFlags): Promise<ModelSources> {
  const { createModelSources } = await import('./pull/pulled-models.ts');
  const { config } = loadConfig({ flags });
  return createModelSources({ config, hub: readHubSettings(), now: new Date(), rowBytes: rowBytesOf(config) });
}

/** Loaded only for its command, as above. */
async function learnConfigured(flags: SettingFlags, order: LearnOrder, watcher: LearnWatcher): Promise<LearnOutcome> {
  const { learnModel } = await import('./learn/learn-model.ts');
  const { config } = loadConfig({ flags });
  return await learnModel(order, { config, ...watcher, now: new Date(), logger: errorLogger(), engines: localEngines });
}

/** Loaded only for its command, as above. */
async function* lookAround(flags: SettingFlags, { isQuick }: { isQuick: boolean }): AsyncGenerator<Finding> {
  const doctor = await import('./doctor/doctor.ts');
  const verify = isQuick ? undefined : (folder: string) => verifyModels(flags, [folder]);
  yield* doctor.diagnose({ flags, verify, nowMs: Date.now });
}

/** @throws StartError what is wrong with a folder */
async function* verifyModels(flags: SettingFlags, given: readonly string[]): AsyncGenerator<VerifiedModel> {
  const { config } = loadConfig({ flags });
  const logger = errorLogger();
  const all = () => [...findModelFolders(config), ...listLearnedFolders(config.dataDir)];
  for (const folder of given.length > 0 ? given : all()) {
    if (isLearnedFolder(folder)) {
      yield await verifyLearned(config, folder);
      continue;
    }
    const parts = { folders: [folder], logger, cacheFolder: undefined };
    const engine = await startEngine({ ...config, engine: { ...config.engine, workers: 1 } }, parts);
    try {
      await engine.ready;
      const { device } = engine.status();
      for (const { id, digest = '' } of engine.models) yield { folder, id, digest, device };
    } finally {
      await engine.drain();
    }
  }
}

/** @throws StartError when there is none, or it is broken */
async function findDecisionModel(flags: SettingFlags, wanted: string): Promise<DecisionModel> {
  const loaded = loadConfig({ flags });
  const { config } = loaded;
  const learned = await findLearnedModel(config, wanted);
  if (learned !== undefined) return openLearned(loaded, learned);
  const folder = await findDecisionFolder(config, wanted);
  const { path, digest, manifest } = folder;
  const tokenizer = await openTokenizer(path, config.engine.tokenizer);
  return {
    id: manifest.id,
    folder: path,
    digest,
    temperatures: manifest.temperatures,
    isCalibrated: isCalibrated(manifest),
    countTokens: (text) => tokenizer.encode(text).length,
    startServer: () => startLocalServer({ ...loaded, config: configOfFew(config, [path]) }, []),
    startReader: async () => {
      const standIn = await findStandIn(config, folder);
      const folders = [path, ...(standIn === undefined ? [] : [standIn.path])];
      return await startRowReader(configOfFew(config, folders), {
        baseId: manifest.id,
        embedderId: standIn?.manifest.id,
        learned: undefined,
      });
    },
    renderManifest: (temperatures) => renderManifest(folder, temperatures),
    writeTemperatures: async (temperatures) => (await writeTemperatures(folder, temperatures)).digest,
  };
}

/** A learned model is calibrated as it is learned: nobody can put other temperatures into it. */
async function openLearned(loaded: LoadedConfig, { folder, base, needed }: FoundLearned): Promise<DecisionModel> {
  const { config } = loaded;
  const { temperatures } = base.manifest;
  const tokenizer = await openTokenizer(base.path, config.engine.tokenizer);
  const { id } = folder.manifest;
  const refuse = async (): Promise<never> => {
    const remedy = `Calibrate ${base.manifest.id}, then learn ${id} again`;
    throw new StartError(`${id} is a learned model: its probabilities are fitted as it is learned. ${remedy}.`);
  };
  return {
    id,
    folder: folder.path,
    digest: folder.digest,
    temperatures,
    isCalibrated: true,
    isLearned: true,
    countTokens: (text) => tokenizer.encode(text).length,
    startServer: () => startLocalServer({ ...loaded, config: configOfFew(config, needed) }, [id]),
    startReader: () =>
      startRowReader(configOfFew(config, needed), {
        baseId: base.manifest.id,
        embedderId: folder.model.embedder?.id,
        learned: folder.model,
      }),
    renderManifest: refuse,
    writeTemperatures: refuse,
  };
}

/** Nobody else is there who would have to wait, and none of a command's calls may be refused for the others' sake. */
function configOfFew(config: Config, folders: readonly string[]): Config {
  const engine = { ...config.engine, queueMaxCostMs: Number.MAX_SAFE_INTEGER, queueDeadlineMs: LONGEST_TIMER_MS };
  return { ...config, engine, models: [...folders], aliases: {} };
}

async function startRowReader(config: Config, model: ReadingModel): Promise<RowReader> {
  const folders = findModelFolders(config);
  const engine = await startEngine(config, { folders, logger: errorLogger(), cacheFolder: findCacheFolder(config) });
  const close = async (): Promise<void> => {
    await engine.drain();
    localEngines.delete(engine);
  };
  localEngines.add(engine);
  try {
    await engine.ready;
  } catch (error) {
    await close();
    throw error;
  }
  return createRowReader({ engine, model, keyId: LOCAL_KEY.id, close });
}

/** A command should not leave a data folder behind wherever it is run. */
function findCacheFolder(config: Config): string | undefined {
  const keepsGraphs = config.engine.cacheDir !== undefined || existsSync(config.dataDir);
  return keepsGraphs ? cacheFolderOf(config) : undefined;
}

/** Without keys and ledger, and without a port. @param learnedIds absent: every learned model */
async function startLocalServer(loaded: LoadedConfig, learnedIds?: readonly string[]): Promise<ServerConnection> {
  const cacheFolder = findCacheFolder(loaded.config);
  const authenticator = { authenticate: async () => LOCAL_KEY };
  const app = await buildApp(loaded, { version, logger: errorLogger(), authenticator, cacheFolder, learnedIds });
  const close = async (): Promise<void> => {
    await app.stop();
    localEngines.delete(app.engine);
  };
  localEngines.add(app.engine);
  try {
    await app.engine.ready;
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async post(url, payload, given = {}) {
      const headers = { authorization: 'Bearer local', 'content-type': 'application/json', ...given };
      const reply = await app.http.inject({ method: 'POST', url, headers, payload });
      const told = Object.entries(reply.headers).map(([name, value]) => [name, value?.toString()]);
      return { status: reply.statusCode, body: reply.body, headers: Object.fromEntries(told) };
    },
    close,
  };
}

/** Commands answer on standard output; what goes wrong beside it goes to the other one. */
function errorLogger(): Logger {
  return createLogger({ level: 'warn', format: 'text', destination: process.stderr });
}
