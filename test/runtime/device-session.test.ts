// So many runs on a device at once, from several threads; and no memory there is an error of ours.

import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { DeviceLost, OutOfDeviceMemory } from '../../src/runtime/device-faults.ts';
import { DeviceSession } from '../../src/runtime/device-session.ts';
import type { GraphSession } from '../../src/runtime/session.ts';

function openSlots(count: number): SharedArrayBuffer {
  const slots = new SharedArrayBuffer(4);
  new Int32Array(slots)[0] = count;
  return slots;
}

function sessionThat(run: GraphSession['run']): GraphSession {
  return { outputs: [], run, runInto: async () => undefined, close: async () => undefined };
}

it('says of a fault of the device what it is, and gives the place of the failed run back', async () => {
  for (const [message, kind] of [
    ['CUDA failure 2: out of memory ; GPU=0', OutOfDeviceMemory],
    ['CUDA failure 719: unspecified launch failure ; GPU=0', DeviceLost],
  ] as const) {
    const failing = () => Promise.reject(new Error(message));
    const session = new DeviceSession({ ...sessionThat(failing), runInto: failing }, openSlots(1));
    await expect(session.run({})).rejects.toBeInstanceOf(kind);
    await expect(session.runInto({}, {})).rejects.toBeInstanceOf(kind);
    await expect(session.run({})).rejects.toBeInstanceOf(kind);
  }
});

it('leaves any other failure as it is', async () => {
  const session = new DeviceSession(
    sessionThat(() => Promise.reject(new Error('Got invalid dimensions'))),
    openSlots(1),
  );
  await expect(session.run({})).rejects.toThrow('Got invalid dimensions');
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
