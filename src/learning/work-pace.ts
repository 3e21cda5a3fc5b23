// Lets the event loop turn while something is computed for long, and hears an abort. Paced by work done, not by a clock.

import { setImmediate } from 'node:timers/promises';

/** Some 50 ms of multiplications. */
const WORK_BETWEEN_TURNS = 5e7;

export class WorkPace {
  readonly #signal: AbortSignal | undefined;
  #work = 0;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** @param multiplications done since the last call. @throws the signal's reason */
  async spend(multiplications: number): Promise<void> {
    this.#work += multiplications;
    if (this.#work >= WORK_BETWEEN_TURNS) {
      this.#work = 0;
      await setImmediate();
    }
    this.#signal?.throwIfAborted();
  }
}
