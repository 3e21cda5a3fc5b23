// Something that is done again and again. Says once that it fails and once that it works again, however often it is tried.

import type { Clock } from '../../domain/clock.ts';

export interface JobEvent {
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

export interface PeriodicJobOptions {
  /** For messages: `sign of life`. */
  readonly name: string;
  /** From the end of one run to the beginning of the next. */
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
  readonly clock: Clock;
  readonly onEvent: (event: JobEvent) => void;
}

export class PeriodicJob {
  readonly #options: PeriodicJobOptions;
  #cancelTimer: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #isFailing = false;
  #isStopped = false;

  constructor(options: PeriodicJobOptions) {
    this.#options = options;
  }

  /** Runs at once, then after every interval. */
  start(): void {
    this.#running = this.#run();
  }

  /** Waits for a run that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { name, run, clock, intervalMs, onEvent } = this.#options;
    try {
      await run();
      if (this.#isFailing) onEvent({ level: 'info', message: `works again: ${name}` });
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) onEvent({ level: 'warn', message: `fails and is tried again: ${name}`, error });
      this.#isFailing = true;
    }
    if (!this.#isStopped) this.#cancelTimer = clock.after(intervalMs, () => this.start());
  }
}
