import { describe, expect, it } from 'vitest';
import { countLetters, TokenRatio } from './token-ratio.ts';

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
