// Loaded into the server by the fuzzer: tells every time that the main thread did not come to its timers for long, and
// how much of that the machine was to blame for. Linux says how long a thread wanted to run and was not let.

import { openSync, readSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const INTERVAL_MS = 10;
/** Shorter ones are of no interest to anybody. */
const TOLD_FROM_MS = 25;
const STDERR = 2;

const buffer = Buffer.alloc(128);

function openAccount() {
  try {
    return openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return undefined;
  }
}

/** @returns milliseconds that this thread has run, and that it waited for a core */
function readAccount(file) {
  if (file === undefined) return { runMs: 0, waitMs: 0 };
  const length = readSync(file, buffer, 0, buffer.length, 0);
  const [runNs = 0, waitNs = 0] = buffer.toString('latin1', 0, length).split(' ').map(Number);
  return { runMs: runNs / 1e6, waitMs: waitNs / 1e6 };
}

if (isMainThread) {
  const file = openAccount();
  let lastMs = performance.now();
  let last = readAccount(file);
  setInterval(() => {
    const nowMs = performance.now();
    const account = readAccount(file);
    const lateMs = nowMs - lastMs - INTERVAL_MS;
    const waitMs = account.waitMs - last.waitMs;
    if (lateMs > TOLD_FROM_MS) {
      const runMs = account.runMs - last.runMs;
      writeSync(STDERR, `fuzz-stall ${JSON.stringify({ atMs: Date.now(), lateMs, waitMs, runMs })}\n`);
    }
    lastMs = nowMs;
    last = account;
  }, INTERVAL_MS).unref();
}
