// How many keys that were never seen here may be tried: from one address, and by all together. Owns the counting; what a
// guess is, and who passes all the same, key-cache.ts decides.

import { AppError } from '../../domain/errors.ts';

/** Look-ups that are under way or found nothing within a second. */
const MAX_STRANGERS = 500;
/** Of them, from one address. Many a house has one address: those who come from it with keys of their own find them. */
const MAX_OF_ADDRESS = 50;
const WINDOW_MS = 1000;

export class StrangerGate {
  readonly #running = new Map<string, number>();
  readonly #misses = new Map<string, number>();
  #allRunning = 0;
  #allMisses = 0;
  #windowEndsAtMs = 0;

  /** @returns AppError `rate_limit_exceeded` where this address tries too many keys, `overloaded` where all do */
  findRefusal(address: string, nowMs: number): AppError | undefined {
    this.#turn(nowMs);
    const retryAfterMs = this.#windowEndsAtMs - nowMs;
    if (countOf(this.#running, address) + countOf(this.#misses, address) >= MAX_OF_ADDRESS) {
      const message = 'Too many unknown keys are tried from this address.';
      return new AppError('rate_limit_exceeded', message, { retryAfterMs });
    }
    if (this.#allRunning + this.#allMisses < MAX_STRANGERS) return undefined;
    return new AppError('overloaded', 'Too many unknown keys are tried at the moment.', { retryAfterMs });
  }

  enter(address: string): void {
    this.#allRunning += 1;
    this.#running.set(address, countOf(this.#running, address) + 1);
  }

  leave(address: string, isMiss: boolean): void {
    this.#allRunning -= 1;
    const running = countOf(this.#running, address) - 1;
    if (running > 0) this.#running.set(address, running);
    else this.#running.delete(address);
    if (!isMiss) return;
    this.#allMisses += 1;
    this.#misses.set(address, countOf(this.#misses, address) + 1);
  }

  #turn(nowMs: number): void {
    if (nowMs < this.#windowEndsAtMs) return;
    this.#windowEndsAtMs = nowMs + WINDOW_MS;
    this.#misses.clear();
    this.#allMisses = 0;
  }
}

function countOf(counts: ReadonlyMap<string, number>, address: string): number {
  return counts.get(address) ?? 0;
}
