// Planned arrivals are those of a Poisson process, and the same for the same seed.

import { describe, expect, it } from 'vitest';
import { planArrivals } from '../../../bench/load/open-loop.ts';

const PLAN = { requestsPerSecond: 200, durationMs: 50_000, seed: 7 };

describe('planned arrivals', () => {
  it('come at the rate asked for, in order and within the time', () => {
    const times = planArrivals(PLAN);
    // Four standard deviations of a Poisson count of 10,000.
    expect(Math.abs(times.length - 10_000)).toBeLessThan(400);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(0);
    expect(times.at(-1)).toBeLessThan(PLAN.durationMs);
  });

  it('have gaps as an exponential distribution has them', () => {
    const times = planArrivals(PLAN);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    const mean = gaps.reduce((total, gap) => total + gap, 0) / gaps.length;
    const deviation = Math.sqrt(gaps.reduce((total, gap) => total + (gap - mean) ** 2, 0) / gaps.length);
    expect(mean).toBeCloseTo(5, 0);
    expect(deviation / mean).toBeGreaterThan(0.95);
    expect(deviation / mean).toBeLessThan(1.05);
    const beyondMean = gaps.filter((gap) => gap > mean).length / gaps.length;
    expect(beyondMean).toBeCloseTo(Math.exp(-1), 1);
  });

  it('are the same for a seed, and others for another', () => {
    expect(planArrivals(PLAN)).toEqual(planArrivals(PLAN));
    expect(planArrivals({ ...PLAN, seed: 8 })).not.toEqual(planArrivals(PLAN));
  });

  it('need a rate', () => {
    expect(() => planArrivals({ ...PLAN, requestsPerSecond: 0 })).toThrow(RangeError);
    expect(() => planArrivals({ ...PLAN, requestsPerSecond: Number.NaN })).toThrow(RangeError);
  });
});
