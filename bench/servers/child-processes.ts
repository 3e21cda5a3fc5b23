// The processes the bench starts: the server by its production entry, and the null endpoint. Owns their start, memory and end.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../test/postgres/free-port.ts';
import { DEVICE } from './engine-settings.ts';

export const API_KEY = 'bench-key-of-fixed-text';

const ROOT = resolve(import.meta.dirname, '..', '..');
const READY_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;
const MAX_LOG_TAIL = 2000;

const SERVE = ['src/launch.js', 'serve'];

export interface ServerEntry {
  /** Added to the environment. */
  readonly settings?: Readonly<Record<string, string>>;
  /** File and arguments, from the project's root. */
  readonly command?: readonly string[];
}

export interface MemoryUse {
  /** What the system calls resident: a page that several workers map is counted once for each. */
  readonly residentBytes: number;
  /** The same with such pages counted once (proportional set size). */
  readonly distinctBytes: number;
  /** Highest `residentBytes` of the process so far. */
  readonly peakBytes: number;
}

/** Reads Linux's account of a process. @returns undefined elsewhere */
export function findMemoryUse(pid: number): MemoryUse | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return {
      residentBytes: readKibibytes(status, 'VmRSS') * 1024,
      distinctBytes: readKibibytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss') * 1024,
      peakBytes: readKibibytes(status, 'VmHWM') * 1024,
    };
  } catch {
    return undefined;
  }
}

function readKibibytes(account: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(account)?.[1]);
}

export class ServerProcess {
  readonly origin: string;
  /** From spawn until `/readyz` answered 200. */
  readonly readyMs: number;
  /** Rejects when the server ends before it was told to. */
  readonly lost: Promise<never>;
  readonly #child: ChildProcess;
  #isStopping = false;

  private constructor(child: ChildProcess, origin: string, readyMs: number) {
    this.#child = child;
    this.origin = origin;
    this.readyMs = readyMs;
    const { promise, reject } = Promise.withResolvers<never>();
    this.lost = promise;
    promise.catch(() => undefined);
    child.once('exit', (code, signal) => {
      if (!this.#isStopping) reject(new Error(`The server ended in the middle of the bench: ${signal ?? code}.`));
    });
  }

  /**
   * @param dataDir holds the key store, the cached graphs and the server's log; a second start in it is a warm one
   * @param entry default: the production entry
   */
  static async start(dataDir: string, { settings = {}, command = SERVE }: ServerEntry = {}): Promise<ServerProcess> {
    const port = await findFreePort();
    const env = {
      ...process.env,
      UMPIRE_HOST: '127.0.0.1',
      UMPIRE_PORT: String(port),
      UMPIRE_DATA_DIR: dataDir,
      UMPIRE_API_KEY: API_KEY,
      UMPIRE_ENGINE_DEVICE: DEVICE,
      ...settings,
    };
    const startedMs = performance.now();
    // Straight into a file: lines that came through this process would take time from the client.
    const log = openSync(join(dataDir, 'bench-server.log'), 'a');
    const child = spawn(process.execPath, command, { cwd: ROOT, env, stdio: ['ignore', log, log] });
    closeSync(log);
    const origin = `http://127.0.0.1:${port}`;
    try {
      await waitUntilReady(child, origin);
    } catch (error) {
      child.kill('SIGKILL');
      const told = readFileSync(join(dataDir, 'bench-server.log'), 'utf8').slice(-MAX_LOG_TAIL);
      throw new Error(`The server did not become ready. The end of its log:\n${told}`, { cause: error });
    }
    return new ServerProcess(child, origin, performance.now() - startedMs);
  }

  memoryUse(): MemoryUse | undefined {
    return this.#child.pid === undefined ? undefined : findMemoryUse(this.#child.pid);
  }

  /** @throws if the server does not end by itself with exit code 0 */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = once(this.#child, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
    this.#child.kill('SIGTERM');
    const [code] = await ended;
    if (code !== 0) throw new Error(`The server ended with exit code ${String(code)}.`);
  }

  /** For a bench that failed half-way. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

async function waitUntilReady(child: ChildProcess, origin: string): Promise<void> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    if (child.exitCode !== null) throw new Error(`The server ended with exit code ${child.exitCode}.`);
    const reply = await fetch(`${origin}/readyz`).catch(() => undefined);
    await reply?.arrayBuffer();
    if (reply?.status === 200) return;
    await sleep(10);
  }
  throw new Error(`Not ready after ${READY_TIMEOUT_MS} ms.`);
}

export class NullEndpoint {
  readonly origin: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, origin: string) {
    this.#child = child;
    this.origin = origin;
  }

  static async start(): Promise<NullEndpoint> {
    const file = join(import.meta.dirname, 'null-endpoint.ts');
    const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      return new NullEndpoint(child, `http://127.0.0.1:${line}`);
    }
    throw new Error('The null endpoint ended before it printed its port.');
  }

  stop(): void {
    this.#child.kill();
  }
}
