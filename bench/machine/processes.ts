// What Linux says of processes: their CPU time, by thread, and their memory. Elsewhere no process has any.

import { readdirSync, readFileSync } from 'node:fs';

/** Threads of Node that run no models: what it calls its main thread, garbage collection, timers, file system. */
const OTHER_THREADS = /^(MainThread|node|V8Worker|DelayedTaskSche|SignalInspector|libuv-worker)$/;

/** Milliseconds of all threads. */
export function sumCpuMs(pids: readonly number[]): number {
  return readThreads(pids).reduce((total, { cpuMs }) => total + cpuMs, 0);
}

/** The same with threads that have ended, in steps of ten milliseconds: the system's clock has a hundred ticks a second. */
export function sumCpuWithEndedMs(pids: readonly number[]): number {
  const ticks = pids.flatMap((pid) => readStat(pid)?.slice(11, 13) ?? []);
  return 10 * ticks.reduce((total, count) => total + Number(count), 0);
}

/** Of worker threads; those that keep the store are among them. */
export function sumWorkerCpuMs(pids: readonly number[]): number {
  const workers = readThreads(pids).filter(({ name }) => !OTHER_THREADS.test(name));
  return workers.reduce((total, { cpuMs }) => total + cpuMs, 0);
}

function readThreads(pids: readonly number[]) {
  return pids.flatMap((pid) => {
    const threads = unlessEnded(() => readdirSync(`/proc/${pid}/task`)) ?? [];
    return threads.flatMap((thread) => unlessEnded(() => readThread(`/proc/${pid}/task/${thread}`)) ?? []);
  });
}

/** The first field of `schedstat` is nanoseconds on a CPU. */
function readThread(path: string) {
  const [ns] = readFileSync(`${path}/schedstat`, 'utf8').split(' ');
  return { name: readFileSync(`${path}/comm`, 'utf8').trim(), cpuMs: Number(ns) / 1e6 };
}

export interface MemoryUse {
  /** What the system calls resident: a page that several workers map is counted once for each. */
  readonly residentBytes: number;
  /** The same with such pages counted once (proportional set size). */
  readonly distinctBytes: number;
  /** Highest `residentBytes` of the process so far. */
  readonly peakBytes: number;
}

/** Of a process without its children. @returns undefined where the system does not say */
export function findMemoryUse(pid: number): MemoryUse | undefined {
  return unlessEnded(() => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return {
      residentBytes: readBytes(status, 'VmRSS'),
      distinctBytes: readBytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss'),
      peakBytes: readBytes(status, 'VmHWM'),
    };
  });
}

function readBytes(account: string, field: string): number {
  return 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(account)?.[1]);
}

/** Fields of `/proc/<pid>/stat` from the third on: state, parent, group, …. The name before them may hold spaces and brackets. */
export function readStat(pid: number | 'self'): readonly string[] | undefined {
  return unlessEnded(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  });
}

/** Every process there is; none where the system does not say. */
export function listProcesses(): number[] {
  const names = unlessEnded(() => readdirSync('/proc')) ?? [];
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** undefined for a process or a thread that has ended */
function unlessEnded<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
