import { describe, expect, it } from 'vitest';
import { Overtaking } from './overtaking.ts';

describe('overtaking', () => {
  it('is the part of the workers that clearly shorter calls take', () => {
    const overtaking = new Overtaking(2);
    for (let nowMs = 0; nowMs < 20_000; nowMs += 40) overtaking.observe(20, nowMs);
    expect(overtaking.shareBelow(100, 20_000)).toBeCloseTo(0.25, 1);
    expect(overtaking.shareBelow(20, 20_000)).toBe(0);
    expect(overtaking.shareBelow(100, 40_000)).toBeLessThan(0.01);
  });

  it('never takes everything', () => {
    const overtaking = new Overtaking(1);
    for (let i = 0; i < 1000; i++) overtaking.observe(20, 0);
    expect(overtaking.shareBelow(Number.POSITIVE_INFINITY, 0)).toBe(0.9);
  });
});
