// One run of the server, from the first line it prints to the last request it answers: first key, notices, signals,
// drain. What it is made of, app.ts builds; what becomes of the process afterwards is main.ts's.

import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type App, buildApp } from './app.ts';
import { addressFor, describeServer, firstRequest } from './cli/startup-notices.ts';
import type { LoadedConfig } from './config/load.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { StartError } from './runtime/start-error.ts';
import { ApiKeyService } from './services/api-keys.ts';
import { openSqliteStores } from './storage/sqlite/open-sqlite-stores.ts';

export interface Surroundings {
  readonly version: string;
  /** Somebody is looking: plain text, and a new key may be shown. */
  readonly isTerminal: boolean;
  writeOut(text: string): void;
}

const KEY_FILE = 'initial-key';

/**
 * Runs until a signal or a fault ends it.
 * @returns the exit code: 0 when everything accepted was answered
 * @throws StartError, StorageError
 */
export async function serve(loaded: LoadedConfig, around: Surroundings): Promise<number> {
  const { config, upstreamApiKeys } = loaded;
  const format = config.log.format === 'auto' ? (around.isTerminal ? 'text' : 'json') : config.log.format;
  const secrets = [...upstreamApiKeys.values(), ...(config.apiKey === undefined ? [] : [config.apiKey])];
  const logger = createLogger({ level: config.log.level, format, secrets });
  const stopRequest = new StopRequest(logger);
  const stores = await openSqliteStores(config.dataDir);
  try {
    const keys = new ApiKeyService({ store: stores.keys, fixedSecret: config.apiKey });
    const cacheFolder = config.engine.cacheDir ?? join(config.dataDir, 'cache');
    const hasCache = existsSync(cacheFolder);
    const app = await buildApp(loaded, { version: around.version, logger, authenticator: keys, cacheFolder });
    stopRequest.watch(app.engine);
    const announce =
      format === 'text' ? (line: string) => around.writeOut(`${line}\n`) : (line: string) => logger.info(line);
    return await new ServerRun({ app, keys, loaded, hasCache, around, logger, announce }).until(stopRequest);
  } finally {
    await stores.close();
    stopRequest.forget();
  }
}

interface RunParts {
  readonly app: App;
  readonly keys: ApiKeyService;
  readonly loaded: LoadedConfig;
  /** Whether graphs were optimised for this machine before. */
  readonly hasCache: boolean;
  readonly around: Surroundings;
  readonly logger: Logger;
  readonly announce: (line: string) => void;
}

class ServerRun {
  readonly #parts: RunParts;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  async until(stopRequest: StopRequest): Promise<number> {
    const { app, logger } = this.#parts;
    let inTime = false;
    // Whether it is waited for or not: it may reject before anybody looks, or because the engine is told to stop.
    app.engine.ready.catch(() => undefined);
    try {
      const keyFile = await this.#writeKeyFile();
      const address = await this.#listen();
      await Promise.race([app.engine.ready, stopRequest.made]);
      if (stopRequest.reason === undefined) await this.#announceReady(address, keyFile);
      await stopRequest.made;
      logger.info({ reason: stopRequest.reason }, 'stopping: finishing what was accepted');
    } finally {
      inTime = await app.stop();
    }
    if (!inTime) logger.warn('stopped: the grace period was over and connections were cut');
    return inTime && stopRequest.reason !== 'fault' ? 0 : 1;
  }

  /** @returns address to call */
  async #listen(): Promise<string> {
    const { app, loaded, around, announce } = this.#parts;
    const { host, port } = loaded.config;
    const { log } = app.server;
    const { level } = log;
    // The framework has a line of its own for this; ours says more.
    log.level = 'warn';
    try {
      await app.server.listen({ host, port });
    } catch (error) {
      throw new StartError(
        `Cannot listen on ${host}, port ${port}: ${error instanceof Error ? error.message : error}.`,
      );
    }
    log.level = level;
    const address = addressFor(host, (app.server.server.address() as AddressInfo).port);

    const loading = this.#parts.hasCache
      ? 'loading models'
      : 'loading models and, this first time, optimising them for this machine';
    announce(`umpire ${around.version} listens on ${address}, ${loading}`);
    return address;
  }

  /** Before anybody can ask whether the server is ready, so that who waits for it finds the key. */
  async #writeKeyFile(): Promise<string | undefined> {
    const { keys, around, loaded } = this.#parts;
    if (around.isTerminal || !(await keys.hasNoKeys())) return undefined;
    const { secret } = await createFirstKey(keys);
    const file = join(loaded.config.dataDir, KEY_FILE);
    await writeFile(file, `${secret}\n`, { mode: 0o600 });
    // The mode above counts only for a new file.
    await chmod(file, 0o600);
    return file;
  }

  async #announceReady(address: string, keyFile: string | undefined): Promise<void> {
    const { app, keys, loaded, around, announce } = this.#parts;
    const { device, workers, threadsPerWorker } = app.engine.status();
    const { dataDir } = loaded.config;
    for (const line of describeServer({ models: app.models, device, workers, threadsPerWorker, dataDir }))
      announce(line);
    if (keyFile !== undefined) announce(`A first API key was written to ${keyFile}`);
    // Last, for those who wait for it.
    announce(`ready   ${address}`);
    if (!around.isTerminal || !(await keys.hasNoKeys())) return;
    // Past the log: a key never gets into one.
    const { secret } = await createFirstKey(keys);
    around.writeOut(
      `\nA first API key, shown only now:\n\n  ${secret}\n\nTry it:\n\n${firstRequest(address, secret, app.models)}\n\n`,
    );
  }
}

function createFirstKey(keys: ApiKeyService) {
  return keys.create({ name: 'initial', models: null, expiresAtMs: null, scopes: ['inference', 'admin'] });
}

interface BusyEngine {
  status(): { readonly state: string; readonly busyWorkers: number };
}

/** Signals and faults that end the server. The first asks, a second signal does not ask any more. */
class StopRequest {
  readonly made: Promise<void>;
  reason: string | undefined;
  readonly #logger: Logger;
  readonly #make: () => void;
  #engine: BusyEngine | undefined;

  constructor(logger: Logger) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.made = promise;
    this.#make = resolve;
    this.#logger = logger;
    process.on('SIGTERM', this.#onSignal);
    process.on('SIGINT', this.#onSignal);
    process.on('uncaughtException', this.#onFault);
    process.on('unhandledRejection', this.#onFault);
  }

  watch(engine: BusyEngine): void {
    this.#engine = engine;
  }

  forget(): void {
    process.off('SIGTERM', this.#onSignal);
    process.off('SIGINT', this.#onSignal);
    process.off('uncaughtException', this.#onFault);
    process.off('unhandledRejection', this.#onFault);
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    if (this.reason !== undefined) endAtOnce(this.#engine);
    this.reason = signal;
    this.#make();
  };

  // Left alone it would end the process, and with it the thread of a running model. What is going on is finished first.
  readonly #onFault = (error: unknown): void => {
    this.#logger.fatal({ err: error }, 'unexpected fault, stopping');
    this.reason ??= 'fault';
    this.#make();
  };
}

/** An exit would end the threads, and a thread that is inside a model takes the process down with a core dump. */
function endAtOnce(engine: BusyEngine | undefined): void {
  const { state, busyWorkers } = engine?.status() ?? { state: 'loading', busyWorkers: 0 };
  if (state === 'loading' || busyWorkers > 0) process.kill(process.pid, 'SIGKILL');
  else process.exit(1);
}
