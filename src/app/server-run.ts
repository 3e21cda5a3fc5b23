// One run of the server, from the first line it prints to the last request it answers: first key, notices, drain. What
// ends it, stop-request.ts hears; what it is made of, app.ts knows; what becomes of the process afterwards is main.ts's.

import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { EXIT, type ExitCode } from '../cli/exit-codes.ts';
import { type GreetedServer, greet } from '../cli/greeting.ts';
import type { Paint } from '../cli/paint.ts';
import { describeAddress, describeServer, type StartedServer } from '../cli/startup-notices.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { messageOf } from '../domain/errors.ts';
import { describeListenFailure, findListenFault, isReachableFromOutside } from '../http/listen-address.ts';
import { createLogger, type Logger } from '../observability/logger.ts';
import { StartError } from '../runtime/start-error.ts';
import { tellTokenizer } from '../runtime/tokenizer/open-tokenizer.ts';
import type { NewApiKey } from '../services/keys/keys.ts';
import { findOpenDoors, writeForOwner } from '../storage/data-folder.ts';
import { checkUpstream } from '../upstream/check-upstream.ts';
import { openServer, type Server } from './app.ts';
import { cacheFolderOf } from './configured-engine.ts';
import { listCheckedUpstreams } from './configured-upstreams.ts';
import { Reloads } from './reloads.ts';
import { StopRequest } from './stop-request.ts';

export interface Surroundings {
  readonly version: string;
  /** Somebody is looking: a greeting instead of lines of the log, unless these are wanted as JSON. */
  readonly isTerminal: boolean;
  /** How the program's commands are typed here. */
  readonly command: string;
  /** Where its guides lie; undefined: they were left behind. */
  readonly guides: string | undefined;
  writeOut(text: string): void;
  /** On standard output. */
  readonly paint: Paint;
}

const UPSTREAM_CHECK_MS = 5000;
const KEY_FILE = 'initial-key';
/** Not to be cured from inside: what a process had on it stays broken for the process. */
const DEVICE_LOST = 'the device is lost to this process, stopping: whoever supervises it starts it anew';
const REACHABLE_WARNING =
  'other machines can reach this server: keys and texts travel unencrypted unless a proxy with TLS is in front (SECURITY.md)';
const FIRST_KEY: NewApiKey = { name: 'initial', models: null, expiresAtMs: null, scopes: ['inference', 'admin'] };
/** A shorter password may be a word that logs need; it is masked only as a part of its address. */
const MIN_MASKED_PASSWORD_CHARS = 12;

/**
 * Runs until a signal or a fault ends it.
 * @param load the configuration as it is now; asked again when the server is told to reload
 * @returns the exit code: 0 when everything accepted was answered
 * @throws StartError, StorageError
 */
export async function serve(load: () => LoadedConfig, around: Surroundings): Promise<ExitCode> {
  const loaded = load();
  const { config } = loaded;
  const format = config.log.format === 'auto' ? (around.isTerminal ? 'text' : 'json') : config.log.format;
  const isGreeting = around.isTerminal && format === 'text';
  const secrets = listSecrets(loaded);
  const logger = createLogger({ level: config.log.level, format, paint: around.paint, secrets });
  const engineLogger = logger.child({});
  // The greeting tells in a line what these tell in several.
  if (isGreeting && config.log.level === 'info') engineLogger.level = 'warn';
  await requireFreePort(config);
  const stopRequest = new StopRequest(logger, around.isTerminal);
  try {
    const hasCache = existsSync(cacheFolderOf(config));
    const reloading = new Reloads({ load, started: loaded, logger });
    const server = await openServer(loaded, { version: around.version, logger, engineLogger, reloading });
    server.engine.ready.then(
      () => {
        engineLogger.level = logger.level;
      },
      () => undefined,
    );
    stopRequest.watch(server.engine);
    void server.engine.deviceLost?.then((reason) => stopRequest.fail({ reason }, DEVICE_LOST));
    const leaving = new AbortController();
    const reload = async (next: LoadedConfig): Promise<void> => {
      secrets.push(...listSecrets(next).filter((secret) => !secrets.includes(secret)));
      await server.served.reload(next);
      for (const log of [logger, engineLogger, server.http.log]) log.level = next.config.log.level;
      void warnOfUpstreams(next, logger, leaving.signal);
    };
    reloading.serve({ checkReload: (next) => server.served.checkReload(next), reload });
    stopRequest.onReload(() => void reloading.run());
    const announce =
      format === 'text' ? (line: string) => around.writeOut(`${line}\n`) : (line: string) => logger.info(line);
    void stopRequest.made.then(() => leaving.abort());
    void warnOfUpstreams(loaded, logger, leaving.signal);
    return await new ServerRun({ server, loaded, hasCache, around, isGreeting, logger, announce }).until(stopRequest);
  } finally {
    stopRequest.forget();
  }
}

/** Before anything that takes time: the models would be loaded for nothing. @throws StartError */
async function requireFreePort(config: Config): Promise<void> {
  const fault = await findListenFault(config);
  if (fault !== undefined) throw new StartError(fault);
}

/** Beside the start, which waits for no upstream: one that is down may be back before the first call. */
async function warnOfUpstreams(loaded: LoadedConfig, logger: Logger, leaving: AbortSignal): Promise<void> {
  const checked = listCheckedUpstreams(loaded).filter(({ checkAtStart }) => checkAtStart);
  await Promise.all(
    checked.map(async (upstream) => {
      const signal = AbortSignal.any([leaving, AbortSignal.timeout(UPSTREAM_CHECK_MS)]);
      const { state, text } = await checkUpstream(upstream, signal);
      if (state === 'ok' || leaving.aborted) return;
      logger.warn({ upstream: upstream.name }, `the upstream ${upstream.name} ${text}; \`umpire doctor\` checks again`);
    }),
  );
}

/** What must never get into a log. */
function listSecrets({ config, upstreamApiKeys }: LoadedConfig): string[] {
  const { apiKey, databaseUrl, telemetry } = config;
  return [
    ...upstreamApiKeys.values(),
    ...Object.values(telemetry.headers ?? {}).filter((text) => text.length >= MIN_MASKED_PASSWORD_CHARS),
    ...(apiKey === undefined ? [] : [apiKey]),
    ...(databaseUrl === undefined ? [] : [databaseUrl, ...passwordsIn(databaseUrl)]),
  ];
}

/** As it is written in an address, and as it is meant. */
function passwordsIn(address: string): string[] {
  const { password } = new URL(address);
  return [password, decodeURIComponent(password)].filter((text) => text.length >= MIN_MASKED_PASSWORD_CHARS);
}

interface RunParts {
  readonly server: Server;
  readonly loaded: LoadedConfig;
  /** Whether graphs were optimised for this machine before. */
  readonly hasCache: boolean;
  readonly around: Surroundings;
  readonly isGreeting: boolean;
  readonly logger: Logger;
  readonly announce: (line: string) => void;
}

class ServerRun {
  readonly #parts: RunParts;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  async until(stopRequest: StopRequest): Promise<ExitCode> {
    const { server, logger } = this.#parts;
    let inTime = false;
    // Whether it is waited for or not: it may reject before anybody looks, or because the engine is told to stop.
    server.engine.ready.catch(() => undefined);
    try {
      const keyFile = await this.#writeKeyFile();
      await this.#listen();
      await Promise.race([server.engine.ready, stopRequest.made]);
      if (stopRequest.reason === undefined) await this.#announceReady(keyFile);
      await stopRequest.made;
      logger.info({ reason: stopRequest.reason }, 'stopping: finishing what was accepted');
    } finally {
      inTime = await server.stop();
    }
    if (!inTime) logger.warn('stopped: the grace period was over and connections were cut');
    return inTime && stopRequest.reason !== 'fault' ? EXIT.done : EXIT.failed;
  }

  async #listen(): Promise<void> {
    const { loaded, around, logger, announce } = this.#parts;
    const { http } = this.#parts.server;
    const { host, port, dataDir } = loaded.config;
    const { log } = http;
    const { level } = log;
    // The framework has a line of its own for this; ours says more.
    log.level = 'warn';
    try {
      await http.listen({ host, port });
    } catch (error) {
      throw new StartError(describeListenFailure({ host, port }, error));
    }
    log.level = level;
    const loading = this.#parts.hasCache
      ? 'loading models'
      : 'loading models and, this first time, optimising them for this machine';
    announce(`umpire ${around.version} listens on ${describeAddress(host, this.#port)}; ${loading}`);
    const bound = http.addresses().flatMap((one) => (typeof one === 'string' ? [] : [one.address]));
    if (bound.some(isReachableFromOutside)) logger.warn(REACHABLE_WARNING);
    for (const door of findOpenDoors(dataDir)) logger.warn(door);
  }

  get #port(): number {
    return (this.#parts.server.http.server.address() as AddressInfo).port;
  }

  /** Before anybody can ask whether the server is ready, so that who waits for it finds the key. */
  async #writeKeyFile(): Promise<string | undefined> {
    const { server, isGreeting, loaded } = this.#parts;
    const { dataDir } = loaded.config;
    const first = isGreeting ? undefined : await server.keys.createFirst(FIRST_KEY);
    if (first === undefined) return undefined;
    const file = join(dataDir, KEY_FILE);
    try {
      await writeForOwner(file, `${first.secret}\n`);
    } catch (error) {
      const reason = messageOf(error);
      throw new StartError(
        `The first API key could not be written to ${file}: ${reason}. Nobody has it; make another one with \`umpire keys create --name admin --scope inference --scope admin\`.`,
      );
    }
    return file;
  }

  async #announceReady(keyFile: string | undefined): Promise<void> {
    const { isGreeting, loaded, announce } = this.#parts;
    if (isGreeting) return await this.#greet();
    for (const line of describeServer(this.#describeStart())) announce(line);
    if (keyFile !== undefined) announce(`A first API key was written to ${keyFile}`);
    // Last, for those who wait for it.
    announce(`ready   ${describeAddress(loaded.config.host, this.#port)}`);
  }

  async #greet(): Promise<void> {
    const { server, loaded, around } = this.#parts;
    const { host, engine, web: hasPages } = loaded.config;
    const { command, guides } = around;
    const tokenizer = await tellTokenizer(engine.tokenizer);
    const first = await server.keys.createFirst(FIRST_KEY);
    const greeted: GreetedServer = { ...this.#describeStart(), host, port: this.#port, tokenizer, hasPages };
    // Past the log: a key never gets into one.
    around.writeOut(greet(greeted, { command, guides, firstKey: first?.secret }));
  }

  #describeStart(): StartedServer {
    const { server, loaded } = this.#parts;
    const { dataDir, engine, answers, aliases } = loaded.config;
    const { device, workers, threadsPerWorker } = server.engine.status();
    const caches = { ...answers, stateCacheBytes: engine.stateCacheBytes };
    return { models: server.models, aliases, device, workers, threadsPerWorker, caches, dataDir };
  }
}
