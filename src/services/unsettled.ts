// What could not be told to the store when it was due: outcomes of requests, and reservations that may or may not stand.
// Told again until the store takes it, so that no living process leaves a reservation open.

import { StoreUnavailableError } from '../storage/stores.ts';
import type { WallClock } from './wall-clock.ts';

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5000;
/**
 * Doubtful reservations that are remembered. Only calls under way when a store fails are in doubt, and they come first;
 * what is asked of it later was never taken in.
 */
const MOST_DOUBTS = 10_000;

type Telling = () => Promise<unknown>;

export interface UnsettledOptions {
  readonly clock: WallClock;
  /** A fault of ours: the store answers, and refuses this one for good. */
  readonly onFault: (error: unknown) => void;
}

export class Unsettled {
  readonly #options: UnsettledOptions;
  #waiting: Telling[] = [];
  #doubts = 0;
  #delayMs = FIRST_DELAY_MS;
  #cancelTimer: (() => void) | undefined;
  #round: Promise<void> | undefined;

  constructor(options: UnsettledOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length;
  }

  add(telling: Telling): void {
    this.#waiting.push(telling);
    this.#schedule();
  }

  /** For a call that failed without saying whether it was carried out. */
  addDoubt(telling: Telling): void {
    if (this.#doubts >= MOST_DOUBTS) return;
    this.#doubts += 1;
    this.add(telling);
  }

  /** One last attempt at everything. What is left then is recovered by other processes, or by the next start. */
  async stop(): Promise<void> {
    this.#cancelTimer?.();
    await this.#round;
    if (this.#waiting.length > 0) await this.#tellAll();
    this.#cancelTimer?.();
  }

  #schedule(): void {
    if (this.#round !== undefined || this.#cancelTimer !== undefined) return;
    this.#cancelTimer = this.#options.clock.after(this.#delayMs, () => {
      this.#cancelTimer = undefined;
      this.#round = this.#tellAll().finally(() => {
        this.#round = undefined;
        if (this.#waiting.length > 0) this.#schedule();
      });
    });
  }

  /** One goes first, and only if the store takes it the others follow, all at once: they are written together. */
  async #tellAll(): Promise<void> {
    const [first, ...others] = this.#waiting;
    if (first === undefined) return;
    const isAnswering = await this.#tell(first);
    if (isAnswering) await Promise.all(others.map((telling) => this.#tell(telling)));
    this.#delayMs = isAnswering ? FIRST_DELAY_MS : Math.min(2 * this.#delayMs, LONGEST_DELAY_MS);
    if (this.#waiting.length === 0) this.#doubts = 0;
  }

  async #tell(telling: Telling): Promise<boolean> {
    try {
      await telling();
    } catch (error) {
      if (error instanceof StoreUnavailableError) return false;
      this.#options.onFault(error);
    }
    this.#waiting = this.#waiting.filter((other) => other !== telling);
    return true;
  }
}
