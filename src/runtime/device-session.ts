// Runs on a device that several workers share: so many at once, and what the library says of its faults as errors of ours. The
// others prepare theirs meanwhile: that is how texts are read, and tensors made, beside the device's work.

import { toDeviceError } from './device-faults.ts';
import type { GraphSession } from './session.ts';

/** A worker that died inside its run must not hold up the others for ever. */
const PATIENCE_MS = 30_000;

export class DeviceSession implements GraphSession {
  readonly #session: GraphSession;
  readonly #slots: Int32Array;

  /** @param slots one Int32, shared by all workers: how many more runs may begin */
  constructor(session: GraphSession, slots: SharedArrayBuffer) {
    this.#session = session;
    this.#slots = new Int32Array(slots);
  }

  get outputs(): readonly string[] {
    return this.#session.outputs;
  }

  run(...asked: Parameters<GraphSession['run']>): ReturnType<GraphSession['run']> {
    return this.#inTurn(() => this.#session.run(...asked));
  }

  runInto(...asked: Parameters<GraphSession['runInto']>): ReturnType<GraphSession['runInto']> {
    return this.#inTurn(() => this.#session.runInto(...asked));
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  /** Blocks this thread: its worker has nothing else to do. */
  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const slots = this.#slots;
    for (;;) {
      const free = Atomics.load(slots, 0);
      if (free > 0 && Atomics.compareExchange(slots, 0, free, free - 1) === free) break;
      if (free <= 0 && Atomics.wait(slots, 0, free, PATIENCE_MS) === 'timed-out') Atomics.add(slots, 0, 1);
    }
    try {
      return await run();
    } catch (error) {
      throw toDeviceError(error);
    } finally {
      Atomics.add(slots, 0, 1);
      Atomics.notify(slots, 0, 1);
    }
  }
}
