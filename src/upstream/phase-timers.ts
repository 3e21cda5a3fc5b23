// The clocks of one upstream call: one for the whole, one for the phase it is in. Either running out, or the client
// leaving, aborts one signal, whose reason is the error to report.

import { UpstreamFault } from './upstream-fault.ts';

export class PhaseTimers {
  /** Aborted with an UpstreamFault `timeout`, or with the reason of the client's signal. */
  readonly signal: AbortSignal;
  readonly #timeout = new AbortController();
  readonly #total: NodeJS.Timeout;
  #phase: NodeJS.Timeout | undefined;

  /** @param totalMessage said when the whole call takes longer than `totalMs` */
  constructor(clientSignal: AbortSignal, totalMs: number, totalMessage: string) {
    this.signal = AbortSignal.any([clientSignal, this.#timeout.signal]);
    this.#total = this.#after(totalMs, totalMessage);
  }

  /** Ends the phase before it. */
  startPhase(ms: number, message: string): void {
    this.endPhase();
    this.#phase = this.#after(ms, message);
  }

  endPhase(): void {
    clearTimeout(this.#phase);
  }

  stop(): void {
    this.endPhase();
    clearTimeout(this.#total);
  }

  #after(ms: number, message: string): NodeJS.Timeout {
    return setTimeout(() => this.#timeout.abort(new UpstreamFault('timeout', message)), ms);
  }
}
