import { describe, expect, it } from 'vitest';
import { DrainRate } from './drain-rate.ts';

describe('drain rate', () => {
  it('is one until something else was measured', () => expect(new DrainRate().perWorker).toBe(1));

  it('is what estimates were worth', () => {
    const rate = new DrainRate();
    for (let i = 0; i < 100; i++) rate.observe(20, 40);
    expect(rate.perWorker).toBeCloseTo(0.5, 1);
    for (let i = 0; i < 100; i++) rate.observe(20, 20_000);
    expect(rate.perWorker).toBe(0.2);
  });
});
