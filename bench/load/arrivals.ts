// When the requests of an open loop are sent, whatever becomes of those before them. Pure and seeded.

import { makeRandom } from './workload.ts';

export interface ArrivalPlan {
  readonly requestsPerSecond: number;
  readonly durationMs: number;
  readonly seed: number;
}

/** A Poisson process: gaps are exponential, −ln(1 − u) ÷ rate. @returns milliseconds from the start, ascending */
export function planArrivals({ requestsPerSecond, durationMs, seed }: ArrivalPlan): number[] {
  if (!(requestsPerSecond > 0)) throw new RangeError(`${requestsPerSecond} requests a second cannot be planned.`);
  const random = makeRandom(seed);
  const times: number[] = [];
  for (let atMs = nextGapMs(random, requestsPerSecond); atMs < durationMs; ) {
    times.push(atMs);
    atMs += nextGapMs(random, requestsPerSecond);
  }
  return times;
}

function nextGapMs(random: () => number, requestsPerSecond: number): number {
  return (-Math.log(1 - random()) / requestsPerSecond) * 1000;
}
