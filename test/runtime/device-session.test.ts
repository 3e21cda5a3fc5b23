// So many runs on a device at once, from several threads; and no memory there is an error of ours.

import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { DeviceSession, OutOfDeviceMemory } from '../../src/runtime/device-session.ts';
import type { GraphSession } from '../../src/runtime/session.ts';

function openSlots(count: number): SharedArrayBuffer {
  const slots = new SharedArrayBuffer(4);
  new Int32Array(slots)[0] = count;
  return slots;
}

function sessionThat(run: GraphSession['run']): GraphSession {
  return { outputs: [], run, runInto: async () => undefined, close: async () => undefined };
}

it('says that the device has no memory, whatever words the library has for it', async () => {
  for (const message of [
    'Non-zero status code returned: Failed to allocate memory for requested buffer of size 1234',
    'CUDA failure 2: out of memory ; GPU=0',
    'BFCArena::AllocateRawInternal Available memory of 12 is smaller than requested bytes of 34',
  ]) {
    const session = new DeviceSession(
      sessionThat(() => Promise.reject(new Error(message))),
      openSlots(1),
    );
    await expect(session.run({})).rejects.toBeInstanceOf(OutOfDeviceMemory);
    // A place that a failed run took is free again.
    await expect(session.run({})).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 1000 });
  }
});

it('leaves any other failure as it is', async () => {
  const session = new DeviceSession(
    sessionThat(() => Promise.reject(new Error('CUDA failure 719'))),
    openSlots(1),
  );
  await expect(session.run({})).rejects.toThrow('CUDA failure 719');
});

const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
(async () => {
  const { DeviceSession } = await import(workerData.module);
  const state = new Int32Array(workerData.state);
  const session = new DeviceSession({
    run: async () => {
      const now = Atomics.add(state, 0, 1) + 1;
      for (let most = Atomics.load(state, 1); now > most && Atomics.compareExchange(state, 1, most, now) !== most; most = Atomics.load(state, 1));
      Atomics.wait(state, 3, 0, 5);
      Atomics.sub(state, 0, 1);
      Atomics.add(state, 2, 1);
      return {};
    },
  }, workerData.slots);
  for (let run = 0; run < 20; run++) await session.run({});
  parentPort.postMessage('done');
})();`;

it('has no more runs at once than slots, over all threads', async () => {
  const state = new SharedArrayBuffer(16);
  const module = new URL('../../src/runtime/device-session.ts', import.meta.url).href;
  const workerData = { module, state, slots: openSlots(2) };
  const threads = Array.from({ length: 5 }, () => new Worker(THREAD, { eval: true, workerData }));
  await Promise.all(
    threads.map((thread) => new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject))),
  );
  await Promise.all(threads.map((thread) => thread.terminate()));
  const [running, most, ended] = new Int32Array(state);
  expect({ running, most, ended }).toEqual({ running: 0, most: 2, ended: 100 });
});
