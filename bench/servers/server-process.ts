// An HTTP server as a process with children: its start, its memory, its end. Knows nothing of what it serves.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const READY_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 20_000;
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
}

/** A group of its own does not end with us: whatever still runs when this process ends is ended. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) killGroup(child, 'SIGKILL');
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
  /** From spawn until `readyPath` answered 200. */
  readonly readyMs: number;
  /** Rejects when the server ends before it was told to. */
  readonly lost: Promise<never>;
  readonly #child: ChildProcess;
  #isStopping = false;

  private constructor(child: ChildProcess, readyMs: number) {
    this.#child = child;
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
      killGroup(child, 'SIGKILL');
      const told = readFileSync(command.logFile, 'utf8').slice(-MAX_LOG_TAIL);
      throw new Error(`${command.file} did not become ready. The end of its log:\n${told}`, { cause: error });
    }
    return new ServerProcess(child, performance.now() - startedMs);
  }

  /** The process and the children it has now; empty where the system does not say. */
  pids(): number[] {
    return this.#child.pid === undefined || !existsSync('/proc') ? [] : listGroup(this.#child.pid);
  }

  /** Memory of all its processes; a page that several map counts once (proportional set size). undefined where the system does not say. */
  proportionalBytes(): number | undefined {
    const pids = this.pids();
    return pids.length === 0 ? undefined : pids.reduce((total, pid) => total + readProportionalBytes(pid), 0);
  }

  /** SIGTERM, and SIGKILL for what has not ended in time. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    killGroup(this.#child, 'SIGKILL');
    await ended;
  }

  /** For a bench that failed half-way. */
  kill(): void {
    this.#isStopping = true;
    killGroup(this.#child, 'SIGKILL');
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

/** Signals the server and its children; a group that has ended is no error. */
function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // All of them have ended.
  }
}

/** The processes of a group. */
function listGroup(group: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => readGroup(pid) === group);
}

/** undefined for a process that has ended */
function readGroup(pid: number): number | undefined {
  try {
    // After the name, which may hold spaces and brackets: state, parent, group.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
  } catch {
    return undefined;
  }
}

function readProportionalBytes(pid: number): number {
  const account = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+) kB/m.exec(account)?.[1]) * 1024;
}
