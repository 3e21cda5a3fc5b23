// Loaded into a server with `--import`: every quarter of a second it writes how long the event loop stood still at the
// longest, how much of that was work of this thread, and the memory. One file for each process, in STALL_FOLDER.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

export interface StallSample {
  readonly atMs: number;
  /** Between two looks at the clock, less the time that was asked for. */
  readonly stallMs: number;
  /** The most work of the main thread in one such time: what a busy machine does not add to. */
  readonly workMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

const LOOK_MS = 2;
const WRITE_MS = 250;

function watch(path: string): void {
  let [lookedMs, workedUs, stallMs, workMs] = [performance.now(), workOf(), 0, 0];
  const look = (): void => {
    const [nowMs, nowUs] = [performance.now(), workOf()];
    stallMs = Math.max(stallMs, nowMs - lookedMs - LOOK_MS);
    workMs = Math.max(workMs, (nowUs - workedUs) / 1000);
    [lookedMs, workedUs] = [nowMs, nowUs];
  };
  setInterval(look, LOOK_MS).unref();
  setInterval(() => {
    const { heapUsed: heapBytes, rss: residentBytes } = process.memoryUsage();
    const sample: StallSample = { atMs: Date.now(), stallMs, workMs, heapBytes, residentBytes };
    [stallMs, workMs] = [0, 0];
    appendFileSync(path, `${JSON.stringify(sample)}\n`);
  }, WRITE_MS).unref();
}

/** Microseconds of the processor that this thread has had. */
function workOf(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

const folder = process.env['STALL_FOLDER'];
if (isMainThread && folder !== undefined) watch(join(folder, `${process.pid}.stalls`));
