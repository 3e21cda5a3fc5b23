// A server as a process with children: its start, its memory, its end. Knows nothing of what it serves.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../test/postgres/free-port.ts';
import { ROOT } from '../machine/machine.ts';
import { findMemoryUse, listProcesses, type MemoryUse, readStat } from '../machine/processes.ts';
import type { Server } from './server.ts';

const READY_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;
const POLL_MS = 10;
const MAX_LOG_TAIL = 3000;

/** A group of its own does not end with us: whatever still runs when this process ends is ended. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) killGroup(child);
});

/** A signal ends a process without `exit`; from the first server on, it goes the long way. */
function exitOnSignals(): void {
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(code));
  }
}

export class ServerProcess {
  readonly origin: string;
  /** From spawn until it answered 200. */
  readonly readyMs: number;
  /** Rejects when the server ends before it was told to. */
  readonly lost: Promise<never>;
  readonly #child: ChildProcess;
  readonly #endsWithZero: boolean;
  #isStopping = false;

  private constructor(child: ChildProcess, origin: string, readyMs: number, endsWithZero = false) {
    this.#child = child;
    this.#endsWithZero = endsWithZero;
    this.origin = origin;
    this.readyMs = readyMs;
    const { promise, reject } = Promise.withResolvers<never>();
    this.lost = promise;
    promise.catch(() => undefined);
    child.once('exit', (code, signal) => {
      if (!this.#isStopping) reject(new Error(`A server ended in the middle of the bench: ${signal ?? code}.`));
    });
  }

  /**
   * @param dataFolder the caller's: holds the log and what the server keeps, so a second start in it may be a warm one
   * @throws if it does not become ready; the end of its log stands in the message
   */
  static async start({ launch }: Pick<Server, 'launch'>, dataFolder: string): Promise<ServerProcess> {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
    const port = await findFreePort();
    const origin = `http://127.0.0.1:${port}`;
    const { file, arguments: args, settings, readyPath, folder = ROOT, endsWithZero } = launch(port, dataFolder);
    const logFile = join(dataFolder, 'server.log');
    const startedMs = performance.now();
    const child = spawnLogged({ file, args, folder, settings }, logFile);
    try {
      await waitUntilReady(child, `${origin}${readyPath}`);
    } catch (error) {
      killGroup(child);
      const told = readFileSync(logFile, 'utf8').slice(-MAX_LOG_TAIL);
      throw new Error(`${file} did not become ready. The end of its log:\n${told}`, { cause: error });
    }
    return new ServerProcess(child, origin, performance.now() - startedMs, endsWithZero);
  }

  /** The process and the children it has now; empty where the system does not say. */
  pids(): number[] {
    return listProcesses().filter((pid) => Number(readStat(pid)?.[2]) === this.#child.pid);
  }

  /** Of the process alone, without its children. */
  memoryUse(): MemoryUse | undefined {
    return this.#child.pid === undefined ? undefined : findMemoryUse(this.#child.pid);
  }

  /** Memory of all its processes; a page that several map counts once. null where the system does not say. */
  proportionalBytes(): number | null {
    const uses = this.pids().flatMap((pid) => findMemoryUse(pid) ?? []);
    return uses.length === 0 ? null : uses.reduce((total, { distinctBytes }) => total + distinctBytes, 0);
  }

  /** To all its processes. */
  signal(signal: NodeJS.Signals): void {
    signalGroup(this.#child, signal);
  }

  /** SIGTERM, and SIGKILL for what has not ended in time. @throws if it should have ended with exit code 0 */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      killGroup(this.#child);
      await ended;
    }
    const end = this.#child.signalCode ?? this.#child.exitCode;
    if (this.#endsWithZero && end !== 0) throw new Error(`The server ended with ${end}.`);
  }

  /** For a bench that failed half-way. */
  kill(): void {
    this.#isStopping = true;
    killGroup(this.#child);
  }
}

interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Into a file: lines that came through this process would take time from the client. In a group that ends as one. */
function spawnLogged({ file, args, folder, settings }: Command, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  const env = { ...process.env, ...settings };
  const child = spawn(file, args, { cwd: folder, env, stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  exitOnSignals();
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  child.once('error', failed.reject);
  child.once('exit', (code, signal) => failed.reject(new Error(`It ended: ${signal ?? code}.`)));
  await Promise.race([pollUntilOk(url), failed.promise]);
}

async function pollUntilOk(url: string): Promise<void> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    const reply = await fetch(url).catch(() => undefined);
    await reply?.arrayBuffer();
    if (reply?.status === 200) return;
    await sleep(POLL_MS);
  }
  throw new Error(`Not ready after ${READY_TIMEOUT_MS} ms.`);
}

function killGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGKILL');
}

/** The server and its children; a group that has ended is no error. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // All of them have ended.
  }
}
