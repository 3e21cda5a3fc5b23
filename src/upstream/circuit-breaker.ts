// Whether a place that failed again and again is asked any more: not for a while, then by one call that tries it, and as
// before once that one succeeds. Time is handed in; what a failure is, the caller knows.

export interface BreakerOptions {
  /** Failures one after the other that open it. */
  readonly failures: number;
  /** How long nobody asks, unless the failure named a longer time. */
  readonly pauseMs: number;
  /** Monotonic. Default: the process's clock. */
  readonly nowMs?: () => number;
  /** It opened, or closed again. A trial that fails says nothing. */
  readonly onChange?: (isOpen: boolean) => void;
}

/** One call. Only the first of its endings counts, and none of a call that began before the breaker opened. */
export interface BreakerCall {
  succeeded(): void;
  /** @param retryAfterMs when the place itself wants to be asked again */
  failed(retryAfterMs?: number): void;
  /** Nothing follows from it for the place: the caller left, or was at fault. */
  ended(): void;
}

/** No place is left out for longer, whatever it says of itself. */
const LONGEST_PAUSE_MS = 300_000;

export class CircuitBreaker {
  readonly #options: BreakerOptions;
  readonly #nowMs: () => number;
  #failures = 0;
  /** undefined: it is closed. */
  #openUntilMs: number | undefined;
  /** The call that tries whether the place is back. */
  #trial: BreakerCall | undefined;
  /** Grows whenever it opens or closes: what began before says nothing of what is now. */
  #epoch = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  get isOpen(): boolean {
    return this.#openUntilMs !== undefined;
  }

  /** Closed, or open for long enough with nobody trying. */
  get takesCalls(): boolean {
    if (this.#openUntilMs === undefined) return true;
    return this.#trial === undefined && this.#nowMs() >= this.#openUntilMs;
  }

  /** May be called though no calls are taken: where there is no other place to ask. */
  begin(): BreakerCall {
    const epoch = this.#epoch;
    let hasEnded = false;
    const end = (then: () => void): void => {
      if (hasEnded) return;
      hasEnded = true;
      if (this.#trial === call) this.#trial = undefined;
      if (epoch === this.#epoch) then();
    };
    const call: BreakerCall = {
      succeeded: () => end(() => this.#close()),
      failed: (retryAfterMs = 0) => end(() => this.#count(retryAfterMs)),
      ended: () => end(() => undefined),
    };
    if (this.isOpen) this.#trial ??= call;
    return call;
  }

  #count(retryAfterMs: number): void {
    this.#failures += 1;
    const wasOpen = this.isOpen;
    if (!wasOpen && this.#failures < this.#options.failures) return;
    this.#epoch += 1;
    this.#openUntilMs = this.#nowMs() + Math.min(Math.max(this.#options.pauseMs, retryAfterMs), LONGEST_PAUSE_MS);
    if (!wasOpen) this.#options.onChange?.(true);
  }

  #close(): void {
    this.#failures = 0;
    if (!this.isOpen) return;
    this.#epoch += 1;
    this.#openUntilMs = undefined;
    this.#trial = undefined;
    this.#options.onChange?.(false);
  }
}
