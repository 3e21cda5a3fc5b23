import { describe, expect, it } from 'vitest';
import { DrainRate } from './drain-rate.ts';
import { Overtaking } from './overtaking.ts';
import { countLetters, TokenRatio } from './token-ratio.ts';

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

describe('tokens of a text', () => {
  it('are guessed by script', () => {
    const ratio = new TokenRatio();
    const guess = (text: string) => ratio.estimate(countLetters(text));
    expect(guess('the order is late. '.repeat(100))).toBeCloseTo(418, 0);
    expect(guess('注文が遅れています'.repeat(100))).toBeGreaterThan(800);
    expect(guess('')).toBe(0);
  });

  it('are learnt from what was counted', () => {
    const ratio = new TokenRatio();
    for (let i = 0; i < 50; i++) ratio.observe(1000, 400);
    expect(ratio.estimate(2000)).toBeCloseTo(800, -1);
    ratio.observe(0, 2);
    expect(ratio.estimate(2000)).toBeCloseTo(800, -1);
  });
});
