// How much estimated work the workers really get done: estimated time of what was finished ÷ time it took. Pure.

/** What an older part still weighs after a newer one of the same length: some dozens of parts are remembered. */
const MEMORY = 0.97;
/** Begins as if half a second had gone as estimated, so that the first parts do not decide alone. */
const PRIOR_MS = 500;

export class DrainRate {
  #costMs = PRIOR_MS;
  #wallMs = PRIOR_MS;

  observe(costMs: number, wallMs: number): void {
    this.#costMs = MEMORY * this.#costMs + costMs;
    this.#wallMs = MEMORY * this.#wallMs + wallMs;
  }

  /** Estimated milliseconds that one busy worker does in one millisecond. Between a fifth and five. */
  get perWorker(): number {
    if (this.#wallMs <= 0) return 1;
    return Math.min(5, Math.max(0.2, this.#costMs / this.#wallMs));
  }
}
