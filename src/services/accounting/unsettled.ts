// How requests ended that could not be told to the store when it was due. Told again until the store takes it, so that no
// living process leaves a reservation open.

import type { Clock } from '../../domain/clock.ts';
import { StoreUnavailableError } from '../../domain/errors.ts';

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5000;

type Telling = () => Promise<unknown>;

export interface UnsettledOptions {
  readonly clock: Clock;
  /** A fault of ours: the store answers, and refuses this one for good. */
  readonly onFault: (error: unknown) => void;
}

export class Unsettled {
  readonly #options: UnsettledOptions;
  readonly #waiting = new Set<Telling>();
  #delayMs = FIRST_DELAY_MS;
  /** What is told for the first time. */
  readonly #first = new Set<Promise<void>>();
  #cancelTimer: (() => void) | undefined;
  #round: Promise<void> | undefined;

  constructor(options: UnsettledOptions) {
    this.#options = options;
  }

  add(telling: Telling): void {
    this.#waiting.add(telling);
    this.#schedule();
  }

  /** Tells it before anything that comes after this call is told. */
  tellNow(telling: Telling): void {
    this.#waiting.add(telling);
    const first = this.#tell(telling).then((isTaken) => {
      this.#first.delete(first);
      if (!isTaken) this.#schedule();
    });
    this.#first.add(first);
  }

  /** One last attempt at everything. What is left then is recovered by other processes, or by the next start. */
  async stop(): Promise<void> {
    this.#cancelTimer?.();
    await Promise.all([this.#round, ...this.#first]);
    if (this.#waiting.size > 0) await this.#tellAll();
    this.#cancelTimer?.();
  }

  #schedule(): void {
    if (this.#round !== undefined || this.#cancelTimer !== undefined) return;
    this.#cancelTimer = this.#options.clock.after(this.#delayMs, () => {
      this.#cancelTimer = undefined;
      this.#round = this.#tellAll().finally(() => {
        this.#round = undefined;
        if (this.#waiting.size > 0) this.#schedule();
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
  }

  async #tell(telling: Telling): Promise<boolean> {
    try {
      await telling();
    } catch (error) {
      if (error instanceof StoreUnavailableError) return false;
      this.#options.onFault(error);
    }
    this.#waiting.delete(telling);
    return true;
  }
}
