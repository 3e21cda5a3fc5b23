// A clock that stands still until a test moves it.

import type { Clock } from '../../src/domain/clock.ts';

interface Timer {
  readonly atMs: number;
  readonly action: () => void;
}

export class ManualClock implements Clock {
  private timeMs = 0;
  private timers: Timer[] = [];

  nowMs(): number {
    return this.timeMs;
  }

  after(delayMs: number, action: () => void): () => void {
    const timer = { atMs: this.timeMs + delayMs, action };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  /** How many timers are set: a call that has ended leaves none behind. */
  get timerCount(): number {
    return this.timers.length;
  }

  /** When the next timer falls due; undefined when none is set. */
  get nextTimerMs(): number | undefined {
    return this.timers.length === 0 ? undefined : Math.min(...this.timers.map(({ atMs }) => atMs));
  }

  /** Moves on and fires what falls due, in order. */
  advance(byMs: number): void {
    const untilMs = this.timeMs + byMs;
    for (;;) {
      const next = this.timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.timers = this.timers.filter((other) => other !== next);
      this.timeMs = next.atMs;
      next.action();
    }
    this.timeMs = untilMs;
  }
}

/** @param until lets a clock run on until it is so */
export async function settledMeanwhile<T>(
  promise: Promise<T>,
  until: (isSo: () => boolean) => Promise<void>,
): Promise<T> {
  let isSettled = false;
  const end = (): void => {
    isSettled = true;
  };
  promise.then(end, end);
  await until(() => isSettled);
  return await promise;
}
