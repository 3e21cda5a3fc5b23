// The arithmetic behind the printed figures of the bench.

import { describe, expect, it } from 'vitest';
import { median, percentile, summariseLatencies } from '../../../bench/load/statistics.ts';

const ONE_TO_HUNDRED = Array.from({ length: 100 }, (_, index) => index + 1);

describe('percentile', () => {
  it.each([
    [0.5, 50],
    [0.95, 95],
    [0.99, 99],
    [1, 100],
    [0, 1],
  ])('at %s is the sample of that rank', (fraction, expected) => {
    expect(percentile([...ONE_TO_HUNDRED].reverse(), fraction)).toBe(expected);
  });

  it('never invents a value between samples', () => {
    expect(median([1, 10])).toBe(1);
    expect(percentile([1, 10], 0.95)).toBe(10);
  });

  it('orders numbers, not texts', () => {
    expect(percentile([9, 100, 20], 1)).toBe(100);
  });

  it('leaves the samples as they are', () => {
    const samples = [3, 1, 2];
    median(samples);
    expect(samples).toEqual([3, 1, 2]);
  });
});

describe('summariseLatencies', () => {
  it('counts, averages and ranks', () => {
    expect(summariseLatencies(ONE_TO_HUNDRED)).toEqual({
      samples: 100,
      meanMs: 50.5,
      p50Ms: 50,
      p95Ms: 95,
      p99Ms: 99,
      maxMs: 100,
    });
  });

  it('has no figures without samples', () => {
    const summary = summariseLatencies([]);
    expect(summary.samples).toBe(0);
    expect(summary.p50Ms).toBeNaN();
    expect(JSON.parse(JSON.stringify(summary))).toMatchObject({ p50Ms: null, meanMs: null });
  });
});
