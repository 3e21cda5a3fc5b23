// CPU time of processes and of their threads, in nanoseconds as Linux's scheduler counts it. Elsewhere every figure is 0.

import { readdirSync, readFileSync } from 'node:fs';

/** Threads of Node that run no models: what it calls its main thread, garbage collection, timers, file system. */
const OTHER_THREADS = /^(MainThread|node|V8Worker|DelayedTaskSche|SignalInspector|libuv-worker)$/;

interface ThreadTime {
  readonly name: string;
  readonly cpuMs: number;
}

/** By id of the thread. */
function readThreadTimes(pids: readonly number[]): ReadonlyMap<string, ThreadTime> {
  const threads = pids.flatMap((pid) => listThreads(pid).map((thread) => [thread, `/proc/${pid}/task/${thread}`]));
  const times = new Map<string, ThreadTime>();
  for (const [thread = '', path = ''] of threads) {
    const time = readThread(path);
    if (time !== undefined) times.set(thread, time);
  }
  return times;
}

/** Of all threads. */
export function sumCpuMs(pids: readonly number[]): number {
  return [...readThreadTimes(pids).values()].reduce((total, { cpuMs }) => total + cpuMs, 0);
}

/** Of worker threads; those that keep the store are among them. */
export function sumWorkerCpuMs(pids: readonly number[]): number {
  const workers = [...readThreadTimes(pids).values()].filter(({ name }) => !OTHER_THREADS.test(name));
  return workers.reduce((total, { cpuMs }) => total + cpuMs, 0);
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** undefined for a thread that has ended. The first field of `schedstat` is nanoseconds on a CPU. */
function readThread(path: string): ThreadTime | undefined {
  try {
    const [ns] = readFileSync(`${path}/schedstat`, 'utf8').split(' ');
    return { name: readFileSync(`${path}/comm`, 'utf8').trim(), cpuMs: Number(ns) / 1e6 };
  } catch {
    return undefined;
  }
}
