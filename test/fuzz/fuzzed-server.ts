// The server that is fuzzed: the production entry as a process of its own, with priced tiny models, little patience, a
// small heap and a watch over its main thread.

import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { API_KEY } from '../../bench/servers/server.ts';
import { ServerProcess } from '../../bench/servers/server-process.ts';
import { umpire } from '../../bench/servers/umpire.ts';
import { findLeaks, type Traces } from '../log-scan/find-leaks.ts';
import { PricedModels } from '../money/priced-models.ts';

const WATCH = pathToFileURL(join(import.meta.dirname, 'stall-watch.mjs')).href;
const HEAP_MB = 512;

const SETTINGS = {
  NODE_OPTIONS: `--import=${WATCH} --max-old-space-size=${HEAP_MB}`,
  UMPIRE_LOG_FORMAT: 'json',
  UMPIRE_HTTP_HEADERS_TIMEOUT_MS: '1500',
  UMPIRE_HTTP_REQUEST_TIMEOUT_MS: '2500',
  UMPIRE_HTTP_KEEP_ALIVE_TIMEOUT_MS: '2000',
  UMPIRE_HTTP_WRITE_TIMEOUT_MS: '3000',
  UMPIRE_LEDGER_SETTLE_TIMEOUT_MS: '1500',
  UMPIRE_DATABASE_STATEMENT_TIMEOUT_MS: '1500',
  UMPIRE_DATABASE_CONNECT_TIMEOUT_MS: '1000',
};

export interface Stall {
  readonly atMs: number;
  /** That its timers came so much too late. */
  readonly lateMs: number;
  /** Of that, waiting for a core that others had. */
  readonly waitMs: number;
  /** Of that, at work. */
  readonly runMs: number;
}

export interface IssuedKey {
  readonly id: string;
  readonly secret: string;
}

export class FuzzedServer {
  readonly server: ServerProcess;
  readonly #dataDir: string;
  readonly #models: PricedModels;
  readonly #kill = (): void => this.server.kill();

  private constructor(server: ServerProcess, dataDir: string, models: PricedModels) {
    this.server = server;
    this.#dataDir = dataDir;
    this.#models = models;
    // Whatever becomes of the fuzzer, its server does not outlive it.
    process.once('exit', this.#kill);
  }

  /** @param settings of the store and the upstream */
  static async start(settings: Readonly<Record<string, string>>): Promise<FuzzedServer> {
    const models = new PricedModels();
    const dataDir = await mkdtemp(join(tmpdir(), 'umpire-fuzz-'));
    const all = { ...SETTINGS, UMPIRE_MODELS: models.folders.join(','), ...settings };
    return new FuzzedServer(await ServerProcess.start(umpire({ settings: all }), dataDir), dataDir, models);
  }

  get port(): number {
    return Number(new URL(this.server.origin).port);
  }

  async issueKey(terms: object): Promise<IssuedKey> {
    const reply = await fetch(`${this.server.origin}/admin/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'fuzz', ...terms }),
    });
    if (reply.status !== 201) throw new Error(`No key was made: ${reply.status} ${await reply.text()}`);
    const { id, key: secret } = (await reply.json()) as { id: string; key: string };
    return { id, secret };
  }

  /** Everything printed so far. */
  readLog(): string {
    return readFileSync(join(this.#dataDir, 'server.log'), 'utf8');
  }

  /** To be called when the process has ended. */
  remove(): void {
    process.off('exit', this.#kill);
    this.server.kill();
    this.#models.remove();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

const STALL = /^fuzz-stall (\{.*\})$/;

export interface LogReading {
  readonly stalls: readonly Stall[];
  /** Lines that should not be there. */
  readonly faults: readonly string[];
}

/** @param traces secrets and texts that no line may hold */
export function readLog(log: string, traces: Traces): LogReading {
  const lines = log.split('\n').filter((line) => line !== '');
  const stalls = lines.flatMap((line) => {
    const json = STALL.exec(line)?.[1];
    return json === undefined ? [] : [JSON.parse(json) as Stall];
  });
  const faults = lines
    .filter((line) => !STALL.test(line) && isFault(line))
    .map((line) => `log: ${line.slice(0, 2000)}`);
  return { stalls, faults: [...faults, ...findLeaks(new Map([['log', log]]), traces)] };
}

/** Whatever is no line of the logger (a stack, a warning of Node) has no business there. */
function isFault(line: string): boolean {
  if (!line.startsWith('{"level":')) return true;
  return /^\{"level":"fatal"|"msg":"internal error"/.test(line);
}
