// Fits find what they were made of, and call a curve a curve.

import { describe, expect, it } from 'vitest';
import { evaluate, fitPolynomial, judgeLinearity } from '../../../bench/parts/fits.ts';
import { fitLines, isAskedAgain } from '../../../bench/parts/scaling.ts';

const XS = [64, 128, 256, 512, 1024, 2048, 4096, 8192];
const pointsOf = (f: (x: number) => number) => XS.map((x) => ({ x, y: f(x) }));

describe('a least-squares fit', () => {
  it('finds the coefficients of a parabola', () => {
    const { coefficients, r2 } = fitPolynomial(
      pointsOf((x) => 3 + 0.05 * x + 1e-5 * x * x),
      2,
    );
    expect(coefficients[0]).toBeCloseTo(3, 6);
    expect(coefficients[1]).toBeCloseTo(0.05, 9);
    expect(coefficients[2]).toBeCloseTo(1e-5, 12);
    expect(r2).toBeCloseTo(1, 12);
  });

  it('is the textbook line through scattered points', () => {
    const points = [1, 2, 3, 4].map((x, index) => ({ x, y: [2, 3, 5, 4][index] ?? 0 }));
    const { coefficients, r2 } = fitPolynomial(points, 1);
    expect(coefficients[0]).toBeCloseTo(1.5, 12);
    expect(coefficients[1]).toBeCloseTo(0.8, 12);
    expect(r2).toBeCloseTo(0.64, 12);
    expect(evaluate({ coefficients }, 10)).toBeCloseTo(9.5, 12);
  });

  it('says when points do not determine it', () => {
    const same = Array.from({ length: 5 }, () => ({ x: 4, y: 1 }));
    expect(() => fitPolynomial(same, 1)).toThrow(RangeError);
    expect(() => judgeLinearity(same.slice(0, 3))).toThrow(RangeError);
  });
});

describe('linear or not', () => {
  it('is a line with a little noise', () => {
    const judged = judgeLinearity(pointsOf((x) => 6 + 0.05 * x * (1 + (x % 3 === 0 ? 0.02 : -0.02))));
    expect(judged.isLinear).toBe(true);
    expect(judged.linear.r2).toBeGreaterThan(0.99);
    expect(Math.abs(judged.quadraticShare)).toBeLessThan(0.1);
  });

  it('is not a parabola, whose quadratic term is told as a share', () => {
    const judged = judgeLinearity(pointsOf((x) => 6 + 0.02 * x + 1e-5 * x * x));
    expect(judged.isLinear).toBe(false);
    expect(judged.quadraticShare).toBeCloseTo((1e-5 * 8192 ** 2) / (6 + 0.02 * 8192 + 1e-5 * 8192 ** 2), 6);
  });

  it('is asked of every row and column of a sweep that has enough points', () => {
    const points = [1, 2, 4, 8].flatMap((questions) =>
      XS.map((stateTokens) => ({ peer: 'a', stateTokens, questions, p50Ms: 1 + stateTokens * questions, samples: 1 })),
    );
    const lines = fitLines([...points, { peer: 'b', stateTokens: 64, questions: 1, p50Ms: 1, samples: 1 }]);
    expect(lines.filter(({ by }) => by === 'stateTokens').map(({ fixed }) => fixed)).toEqual([1, 2, 4, 8]);
    expect(lines.filter(({ by }) => by === 'questions').map(({ fixed }) => fixed)).toEqual(XS);
    expect(lines.every(({ peer, isLinear }) => peer === 'a' && isLinear)).toBe(true);
  });
});

describe('a point of a sweep', () => {
  const ask = (stateTokens: number, questions: number, samplesMs: number[]): boolean =>
    isAskedAgain({ size: { stateTokens, questions }, samplesMs }, 400);

  it('is asked again until its time is used up', () => {
    expect(ask(64, 8, [100, 100, 100])).toBe(true);
    expect(ask(64, 8, [100, 100, 100, 100])).toBe(false);
  });

  it('that is dear is asked once, on the lines that all servers are asked for three times', () => {
    expect(ask(8192, 64, [])).toBe(true);
    expect(ask(8192, 64, [9000])).toBe(false);
    expect([ask(8192, 1, [900, 900]), ask(512, 64, [900, 900])]).toEqual([true, true]);
    expect(ask(8192, 1, [900, 900, 900])).toBe(false);
  });
});
