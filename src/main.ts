// The process: the program that commands see, failures in words, and the exit code.

import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildApp, findModelFolders, priceOfUpstreamModel, startEngine } from './app.ts';
import type { DecisionModel, Finding, ListedModel, Program, ServerConnection, VerifiedModel } from './cli/program.ts';
import { runCommand } from './cli/run-command.ts';
import type { SettingFlag, SettingFlags } from './cli/setting-flags.ts';
import type { CopyTarget } from './cli/store-tools.ts';
import {
  ConfigError,
  type LoadedConfig,
  loadConfig,
  readClientSettings,
  readTargetDatabaseUrl,
} from './config/load.ts';
import { printConfig } from './config/print.ts';
import type { Config } from './config/schema.ts';
import { SETTINGS } from './config/settings.ts';
import { unrestrictedKey } from './domain/api-key.ts';
import { AppError, StoreUnavailableError } from './domain/errors.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { type DecisionFolder, renderManifest, writeTemperatures } from './runtime/model-folder/calibrated-folder.ts';
import { type ModelFolder, priceOf } from './runtime/model-folder/manifest.ts';
import { readModelFolder } from './runtime/model-folder/model-folder.ts';
import { StartError } from './runtime/start-error.ts';
import { BertTokenizer } from './runtime/tokenizer/bert-tokenizer.ts';
import { openConfiguredStores, serve } from './serve.ts';
import type { Administration } from './services/administration.ts';
import { AuditService } from './services/audit.ts';
import { ApiKeyService } from './services/keys/keys.ts';
import { PriceService } from './services/prices.ts';
import { UsageService } from './services/reports/reports.ts';
import { StorageError } from './storage/storage-error.ts';
import type { StoreLocation } from './storage/store-connection.ts';

/** Who asks when the engine runs in the process of a command. */
const LOCAL_KEY = unrestrictedKey({ id: 'key_local', name: 'this process' });

const EXPECTED_FAILURES = [AppError, ConfigError, StartError, StorageError, StoreUnavailableError];

const version = readVersion();

const program: Program = {
  version,
  settingFlags: listSettingFlags(),
  writeOut: (output) => process.stdout.write(output),
  writeError: (output) => process.stderr.write(output),
  isTerminal: process.stdout.isTTY === true,
  readStdin: () => text(process.stdin),
  clientSettings: readClientSettings(),
  describeConfig: (flags) => printConfig(loadConfig({ flags })),
  serve: (flags) => serve(loadConfig({ flags }), { ...program, ...findPlace() }),
  withServices,
  storeTools: {
    targetDatabaseUrl: readTargetDatabaseUrl(),
    backup: async (flags, file, options) =>
      (await storeTools()).backupStore(locateConfiguredStore(flags), file, options),
    restore: async (flags, file) => (await storeTools()).restoreStore(locateConfiguredStore(flags), file, Date.now()),
    check: async (flags) => (await storeTools()).checkStore(locateConfiguredStore(flags)),
    copy: async (flags, target) =>
      (await storeTools()).copyBetweenStores(locateConfiguredStore(flags), locateTarget(flags, target), Date.now()),
  },
  diagnose,
  listModels,
  verifyModels,
  startLocalServer: (flags) => startServer(loadConfig({ flags })),
  findDecisionModel,
};

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
  return String((manifest as { version: unknown }).version);
}

/** A checkout runs these files as they are, a package what they were compiled to; a container has no guides. */
function findPlace(): { command: string; guides: string | undefined } {
  const guides = join(import.meta.dirname, '..', 'docs', 'guides');
  return {
    command: import.meta.filename.endsWith('.ts') ? 'npm run -s umpire --' : 'npx umpire',
    guides: existsSync(guides) ? relative(process.cwd(), guides) : undefined,
  };
}

/** Secrets have no flag: the command line of a process is visible to every user of the machine. */
function listSettingFlags(): SettingFlag[] {
  const settings = SETTINGS.filter(({ note }) => !note.secret).map(({ flag, kind, note }) => ({
    name: flag,
    type: kind === 'boolean' ? ('boolean' as const) : ('string' as const),
    help: note.help,
  }));
  return [{ name: 'config', type: 'string', help: 'YAML file of settings.' }, ...settings];
}

async function withServices<T>(flags: SettingFlags, use: (services: Administration) => Promise<T>): Promise<T> {
  const { config } = loadConfig({ flags });
  const stores = await openConfiguredStores(config, false);
  try {
    return await use({
      keys: new ApiKeyService({ store: stores.keys }),
      prices: new PriceService({ store: stores.prices }),
      usage: new UsageService(stores),
      audit: new AuditService(stores.audit),
    });
  } finally {
    await stores.close();
  }
}

/** Loaded only for its commands: the server's own thread keeps no query builder in memory. */
function storeTools() {
  return import('./storage/store-tools.ts');
}

function locateConfiguredStore(flags: SettingFlags): StoreLocation {
  return locateStore(loadConfig({ flags }).config);
}

function locateStore({ databaseUrl: url, dataDir, database }: Config): StoreLocation {
  const { connectTimeoutMs } = database;
  return url === undefined ? { type: 'sqlite', dataDir } : { type: 'postgres', url, connectTimeoutMs };
}

function locateTarget(flags: SettingFlags, target: CopyTarget): StoreLocation {
  if (target.type === 'sqlite') return { type: 'sqlite', dataDir: resolve(target.dataDir) };
  return { ...target, connectTimeoutMs: loadConfig({ flags }).config.database.connectTimeoutMs };
}

/** Loaded only for its command, as above. */
async function* diagnose(flags: SettingFlags): AsyncGenerator<Finding> {
  const doctor = await import('./doctor.ts');
  yield* doctor.diagnose({ flags, locateStore });
}

/** @throws StartError what is wrong with a folder */
async function* verifyModels(flags: SettingFlags, given: readonly string[]): AsyncGenerator<VerifiedModel> {
  const { config } = loadConfig({ flags });
  const logger = errorLogger();
  for (const folder of given.length > 0 ? given : findModelFolders(config)) {
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

/** @throws StartError what is wrong with a folder */
async function listModels(flags: SettingFlags): Promise<readonly ListedModel[]> {
  const { config } = loadConfig({ flags });
  const folders = await Promise.all(findModelFolders(config).map(readModelFolder));
  const local = folders.map(({ path: source, digest, manifest }) => {
    const { id, type, description } = manifest;
    return { id, type, description, source, digest, price: priceOf(manifest) };
  });
  const upstream = config.upstreams.flatMap(({ name: source, models }) =>
    models.map((model) => {
      const { id, description } = model;
      return { id, type: 'llm' as const, description, source, price: priceOfUpstreamModel(model) };
    }),
  );
  const models: readonly ListedModel[] = [...local, ...upstream];
  const aliases = Object.entries(config.aliases).flatMap(([id, modelId]) =>
    models.filter((model) => model.id === modelId).map((model) => ({ ...model, id, source: `alias of ${modelId}` })),
  );
  return [...models, ...aliases];
}

/** @throws StartError when there is none, or it is broken */
async function findDecisionModel(flags: SettingFlags, wanted: string): Promise<DecisionModel> {
  const loaded = loadConfig({ flags });
  const folder = await findDecisionFolder(loaded, wanted);
  const { path, digest, manifest } = folder;
  const tokenizer = new BertTokenizer(JSON.parse(await readFile(join(path, 'tokenizer.json'), 'utf8')));
  return {
    id: manifest.id,
    folder: path,
    digest,
    temperatures: manifest.temperatures,
    countTokens: (text) => tokenizer.encode(text).length,
    startServer: () => startServer({ ...loaded, config: { ...loaded.config, models: [path], aliases: {} } }),
    renderManifest: (temperatures) => renderManifest(folder, temperatures),
    writeTemperatures: async (temperatures) => (await writeTemperatures(folder, temperatures)).digest,
  };
}

async function findDecisionFolder({ config }: LoadedConfig, wanted: string): Promise<DecisionFolder> {
  const isFolder = existsSync(join(wanted, 'model.json'));
  const id = new Map(Object.entries(config.aliases)).get(wanted) ?? wanted;
  const folders = await Promise.all((isFolder ? [wanted] : findModelFolders(config)).map(readModelFolder));
  const found = isFolder ? folders[0] : folders.find(({ manifest }) => manifest.id === id);
  if (found !== undefined && isDecisionFolder(found)) return found;
  const ids = folders.filter(isDecisionFolder).map(({ manifest }) => manifest.id);
  throw new StartError(
    `There is no decision model "${wanted}". Configured: ${ids.join(', ') || 'none'}; or name a model folder.`,
  );
}

function isDecisionFolder(folder: ModelFolder): folder is DecisionFolder {
  return folder.manifest.type === 'decision';
}

async function startServer(loaded: LoadedConfig): Promise<ServerConnection> {
  const { dataDir, engine } = loaded.config;
  // A command should not leave a data folder behind wherever it is run.
  const cacheFolder = engine.cacheDir ?? (existsSync(dataDir) ? join(dataDir, 'cache') : undefined);
  const authenticator = { authenticate: async () => LOCAL_KEY };
  const app = await buildApp(loaded, { version, logger: errorLogger(), authenticator, cacheFolder });
  const close = async (): Promise<void> => {
    await app.stop();
  };
  try {
    await app.engine.ready;
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async post(url, payload) {
      const headers = { authorization: 'Bearer local', 'content-type': 'application/json' };
      const reply = await app.server.inject({ method: 'POST', url, headers, payload });
      return { status: reply.statusCode, body: reply.body };
    },
    close,
  };
}

/** Commands answer on standard output; what goes wrong beside it goes to the other one. */
function errorLogger(): Logger {
  return createLogger({ level: 'warn', format: 'text', destination: process.stderr });
}

/** Mistakes of whoever starts the program are told in one message; anything else with its stack. */
function reportFailure(error: unknown): number {
  const isExpected = EXPECTED_FAILURES.some((type) => error instanceof type);
  const told = error instanceof Error ? (isExpected ? error.message : error.stack) : String(error);
  process.stderr.write(`umpire: ${told}\n`);
  return 1;
}

/** What a pipe cannot take at once waits for its reader, and an exit would drop it. Resolves also when the reader left. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

// Whoever reads may leave first, as `head` does. That is no fault, and no reason to end a server.
process.stdout.on('error', () => undefined);
const exitCode = await runCommand(process.argv.slice(2), program).catch(reportFailure);
await Promise.all([process.stdout, process.stderr].map(flush));
// By now everything that was opened is closed. Whatever else keeps the event loop busy must not keep a supervisor waiting.
process.exit(exitCode);
