// Starts the process of a probe and hears what it says. It may crash, hang in memory that nobody has, or be killed: all of
// that is a sentence here.

import { fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ProbeOrder, ProbeReport } from './probe-messages.ts';

export interface ProbeBounds {
  /** What its runs may take beside the loaded model; undefined: as much as there is. */
  readonly runBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ProbeEnding {
  /** What it said before it ended; `failed` and `done` are not among them. */
  readonly reports: readonly ProbeReport[];
  /** Why it did not come to its end; undefined: it did. */
  readonly fault: string | undefined;
}

const LOOK_MS = 20;
const BYTES_PER_KB = 1024;
const TOO_LARGE = 'it took more memory than it may';

/** @throws the signal's reason */
export async function runProbe(order: ProbeOrder, { runBytes, signal }: ProbeBounds = {}): Promise<ProbeEnding> {
  signal?.throwIfAborted();
  const reports: ProbeReport[] = [];
  let fault: string | undefined;
  let mostBytes = Number.POSITIVE_INFINITY;
  const kill = (reason: string): void => {
    fault ??= reason;
    child.kill('SIGKILL');
  };
  // Nothing of our environment: a token for a hub may be in it, and whoever wrote the graph is a stranger.
  const child = fork(workerFile(), { env: { ORT_DISABLE_TELEMETRY: '1' }, stdio: 'ignore', serialization: 'advanced' });
  const stop = (): void => kill('it was stopped');
  signal?.addEventListener('abort', stop);
  const watch = setInterval(() => {
    void residentBytes(child.pid).then((bytes) => {
      if (bytes > mostBytes) kill(TOO_LARGE);
    });
  }, LOOK_MS);
  child.on('message', (report: ProbeReport) => {
    if (report.kind === 'failed') fault ??= report.message;
    else if (report.kind !== 'done') reports.push(report);
    if (report.kind === 'loaded' && runBytes !== undefined) mostBytes = report.residentBytes + runBytes;
  });
  const ending = Promise.withResolvers<string | undefined>();
  child.on('error', (error) => ending.resolve(error.message));
  child.on('close', (code, killedBy) => ending.resolve(describeEnd(code, killedBy)));
  try {
    child.send(order);
    const end = await ending.promise;
    signal?.throwIfAborted();
    return { reports, fault: fault ?? end };
  } finally {
    clearInterval(watch);
    signal?.removeEventListener('abort', stop);
    if (child.exitCode === null) child.kill('SIGKILL');
  }
}

function describeEnd(code: number | null, killedBy: NodeJS.Signals | null): string | undefined {
  if (killedBy === 'SIGKILL') return 'the operating system has ended it, most likely for want of memory';
  if (killedBy !== null) return `it crashed in the runtime library (${killedBy})`;
  return code === 0 ? undefined : `it ended with exit code ${code}`;
}

/** @returns 0 where the system does not tell */
async function residentBytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * BYTES_PER_KB;
}

/** Beside this file: TypeScript in the checkout, JavaScript once compiled. */
function workerFile(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`./probe-worker.${extension}`, import.meta.url));
}
