// Lets a few pass at a time and has the others wait in order: reports share the store with the requests they report on.

import { AppError } from '../../domain/errors.ts';

/** A guess: how long reports take is not known beforehand. */
const RETRY_AFTER_MS = 1000;

export interface TurnstileOptions {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

export class Turnstile {
  readonly #options: TurnstileOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: TurnstileOptions) {
    this.#options = options;
  }

  /** @throws AppError `overloaded` when too many wait already; what `work` throws */
  async pass<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#options.maxRunning) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place goes to the next one: nobody who comes meanwhile can take it.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#options.maxWaiting) {
      throw new AppError('overloaded', 'Too many reports are asked for at the moment.', {
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
