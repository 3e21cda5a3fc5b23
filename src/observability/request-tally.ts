// What the process counts of its requests by itself: those under way, and those that ended with an error, by code, since
// the start and in the last hour. Bounded: one number for each code and minute. A restart begins at zero.

import type { ErrorCode } from '../domain/errors.ts';
import type { ErrorCount } from '../domain/request-sample.ts';

const MINUTE_MS = 60_000;
const MINUTES = 60;

interface CodeCounts {
  sinceStart: number;
  /** `[MINUTES]`; a minute has the place of its number modulo their count. */
  readonly byMinute: number[];
}

export class RequestTally {
  readonly #nowMs: () => number;
  readonly #codes = new Map<ErrorCode, CodeCounts>();
  /** Number of the newest minute that has a place. */
  #minute: number;
  #underWay = 0;

  /** @param nowMs Default: milliseconds since the process began */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#minute = this.#minuteNow();
  }

  get underWay(): number {
    return this.#underWay;
  }

  started(): void {
    this.#underWay += 1;
  }

  ended(code: ErrorCode | null): void {
    this.#underWay -= 1;
    if (code === null) return;
    this.#moveOn();
    const counts = this.#codes.get(code) ?? { sinceStart: 0, byMinute: new Array<number>(MINUTES).fill(0) };
    this.#codes.set(code, counts);
    const place = this.#minute % MINUTES;
    counts.sinceStart += 1;
    counts.byMinute[place] = (counts.byMinute[place] ?? 0) + 1;
  }

  /** Codes that occurred, the most frequent first. */
  errors(): readonly ErrorCount[] {
    this.#moveOn();
    const oldest = this.#minute + 1;
    const counts = [...this.#codes].map(([code, { sinceStart, byMinute }]) => ({
      code,
      sinceStart,
      byMinute: byMinute.map((_, index) => byMinute[(oldest + index) % MINUTES] ?? 0),
    }));
    return counts.sort((left, right) => right.sinceStart - left.sinceStart);
  }

  /** Clears the minutes that have come since. */
  #moveOn(): void {
    const now = this.#minuteNow();
    const passed = Math.min(now - this.#minute, MINUTES);
    for (const { byMinute } of this.#codes.values()) {
      for (let step = 1; step <= passed; step++) byMinute[(this.#minute + step) % MINUTES] = 0;
    }
    this.#minute = now;
  }

  #minuteNow(): number {
    return Math.floor(this.#nowMs() / MINUTE_MS);
  }
}
