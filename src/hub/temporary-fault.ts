// What may go well a moment later, and how long one waits for it.

import { setTimeout as pause } from 'node:timers/promises';
import { HubError } from './hub-error.ts';

const MAX_FAILURES = 5;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 8000;
/** A hub counts requests in windows of five minutes; who asks for more patience than that is not waited for. */
const MOST_PATIENCE_MS = 600_000;
const SECOND_MS = 1000;

export class TemporaryFault extends Error {
  override readonly name = 'TemporaryFault';
  /** What the hub asked for; undefined: it did not say. */
  readonly waitMs: number | undefined;

  constructor(message: string, options: { readonly waitMs?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.waitMs = options.waitMs;
  }
}

/** @throws the signal's reason when it is aborted meanwhile */
export type Pause = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

export const pauseForReal: Pause = async (ms, signal) => {
  // Its own error says nothing of why.
  await pause(ms, undefined, { signal }).catch(() => signal?.throwIfAborted());
};

export interface PatienceParts {
  readonly pause: Pause;
  readonly signal: AbortSignal | undefined;
  /** Is told before each wait. */
  readonly onWait?: (waitMs: number) => void;
}

/** Of one thing that is tried until it works: five failures in a row end it. */
export class Patience {
  readonly #parts: PatienceParts;
  #failures = 0;

  constructor(parts: PatienceParts) {
    this.#parts = parts;
  }

  /** Something came of the last try. */
  renew(): void {
    this.#failures = 0;
  }

  /**
   * Until it is worth another try.
   * @throws HubError when there have been enough of them
   */
  async wait(fault: TemporaryFault): Promise<void> {
    const { signal, onWait } = this.#parts;
    this.#failures++;
    if (this.#failures === MAX_FAILURES)
      throw new HubError(`${fault.message} It was tried ${MAX_FAILURES} times.`, { cause: fault });
    const waitMs = fault.waitMs ?? Math.min(FIRST_WAIT_MS * 2 ** (this.#failures - 1), LONGEST_WAIT_MS);
    if (waitMs > MOST_PATIENCE_MS)
      throw new HubError(`${fault.message} It asks for ${Math.ceil(waitMs / SECOND_MS)} s of patience.`, {
        cause: fault,
      });
    onWait?.(waitMs);
    await this.#parts.pause(waitMs, signal);
  }

  async run<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof TemporaryFault)) throw error;
        await this.wait(error);
      }
    }
  }
}
