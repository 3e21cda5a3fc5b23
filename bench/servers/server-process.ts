// An HTTP server as a process with children: its start, its memory, its end. Knows nothing of what it serves.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { listProcesses, readStat } from '../machine/cpu-time.ts';

const READY_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;
const POLL_MS = 10;
const MAX_LOG_TAIL = 3000;

export interface ServerCommand {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly folder: string;
  /** Added to the environment. */
  readonly settings: Readonly<Record<string, string>>;
  readonly origin: string;
  /** A path that answers 200 once, and only when, requests are answered. */
  readonly readyPath: string;
  /** What it prints is appended here: lines that came through this process would take time from the client. */
  readonly logFile: string;
  /** Whether any other end than exit code 0, when it is told to stop, is a fault. */
  readonly endsWithZero?: boolean;
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

/** A group of its own does not end with us: whatever still runs when this process ends is ended. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) killGroup(child);
});

/** A signal ends a process without `exit`; from the first server on, it goes the long way. */
function exitOnSignals(): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(code));
  }
}

export class ServerProcess {
  readonly origin: string;
  /** From spawn until `readyPath` answered 200. */
  readonly readyMs: number;
  /** Rejects when the server ends before it was told to. */
  readonly lost: Promise<never>;
  readonly #child: ChildProcess;
  readonly #endsWithZero: boolean;
  #isStopping = false;

  private constructor(child: ChildProcess, { origin, endsWithZero = false }: ServerCommand, readyMs: number) {
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

  /** @throws if the server does not become ready; the end of its log stands in the message */
  static async start(command: ServerCommand): Promise<ServerProcess> {
    const startedMs = performance.now();
    const log = openSync(command.logFile, 'a');
    const child = spawn(command.file, command.arguments, {
      cwd: command.folder,
      env: { ...process.env, ...command.settings },
      stdio: ['ignore', log, log],
      // A group of its own: its children end with it.
      detached: true,
    });
    closeSync(log);
    exitOnSignals();
    running.add(child);
    child.once('exit', () => running.delete(child));
    try {
      await waitUntilReady(child, `${command.origin}${command.readyPath}`);
    } catch (error) {
      killGroup(child);
      const told = readFileSync(command.logFile, 'utf8').slice(-MAX_LOG_TAIL);
      throw new Error(`${command.file} did not become ready. The end of its log:\n${told}`, { cause: error });
    }
    return new ServerProcess(child, command, performance.now() - startedMs);
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

/** The server and its children; a group that has ended is no error. */
function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}
