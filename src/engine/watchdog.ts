// Notices when inference hangs: runs a probe now and then where a worker is free, and looks at how long runs take.

import type { Clock } from '../domain/clock.ts';
import { messageOf } from '../domain/errors.ts';

export interface WatchdogOptions {
  /** Time between looks; 0: never. */
  readonly intervalMs: number;
  /** How late a run or a probe may be before it counts as hung. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Lateness of the latest run. */
  readonly lateMs: () => number;
  readonly probe: () => Promise<unknown>;
  /** Called when inference stops and when it goes on again. */
  readonly onChange: (change: { readonly responsive: boolean; readonly reason: string }) => void;
}

export class Watchdog {
  readonly #options: WatchdogOptions;
  #cancelNext: () => void = () => undefined;
  #stopped = false;
  #probeRunning = false;
  #probeFault: string | undefined;
  #reported = true;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** False while a run hangs or the last probe failed. */
  get responsive(): boolean {
    return this.#findFault() === undefined;
  }

  start(): void {
    if (this.#options.intervalMs > 0) this.#scheduleNext();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelNext();
  }

  #scheduleNext(): void {
    this.#cancelNext = this.#options.clock.after(this.#options.intervalMs, () => this.#look());
  }

  #look(): void {
    if (this.#stopped) return;
    void this.#runProbe();
    this.#report();
    this.#scheduleNext();
  }

  async #runProbe(): Promise<void> {
    // A hung probe holds its worker; another would only hold the next one.
    if (this.#probeRunning) return;
    this.#probeRunning = true;
    try {
      await this.#options.probe();
      this.#probeFault = undefined;
    } catch (error) {
      this.#probeFault = messageOf(error);
    } finally {
      this.#probeRunning = false;
    }
    this.#report();
  }

  #findFault(): string | undefined {
    if (this.#probeFault !== undefined) return `the probe failed: ${this.#probeFault}`;
    const lateMs = this.#options.lateMs();
    return lateMs > this.#options.timeoutMs ? `a run is ${Math.round(lateMs)} ms late` : undefined;
  }

  #report(): void {
    const fault = this.#findFault();
    const responsive = fault === undefined;
    if (responsive === this.#reported) return;
    this.#reported = responsive;
    this.#options.onChange({ responsive, reason: fault ?? 'inference goes on' });
  }
}
