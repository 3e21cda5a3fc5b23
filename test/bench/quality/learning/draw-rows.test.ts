import { describe, expect, it } from 'vitest';
import { countRowsNeeded, drawRows } from '../../../../bench/quality/learning/draw-rows.ts';

const LIMITS = { seeds: 3, trainingRows: 200, testRows: 50 };

describe('draws', () => {
  it('have as many rows per option as they say, as far as the limit and the rows go', () => {
    const sizes = (rows: number, options: number) => [
      ...new Set(drawRows({ rows, options }, LIMITS).map(({ rowsPerOption }) => rowsPerOption)),
    ];
    expect(sizes(1000, 2)).toEqual([8, 16, 32, 64]);
    expect(sizes(1000, 10)).toEqual([8, 16]);
    expect(sizes(123, 2)).toEqual([8, 16]);
    expect(sizes(124, 2)).toEqual([8, 16, 32]);
    expect(sizes(60, 2)).toEqual([]);
    for (const { rowsPerOption, training } of drawRows({ rows: 1000, options: 3 }, LIMITS)) {
      expect(training).toHaveLength(3 * rowsPerOption);
    }
  });

  it('judge by other rows than they learn from, at most so many', () => {
    for (const { training, test } of drawRows({ rows: 130, options: 2 }, LIMITS)) {
      const places = [...training, ...test];
      expect(new Set(places).size).toBe(places.length);
      expect(Math.max(...places)).toBeLessThan(130);
      expect(test).toHaveLength(Math.min(50, 130 - training.length));
    }
  });

  it('are the same each time, another for each seed, and larger ones hold the smaller', () => {
    const draws = drawRows({ rows: 500, options: 2 }, LIMITS);
    expect(drawRows({ rows: 500, options: 2 }, LIMITS)).toEqual(draws);
    const of = (size: number, seed: number) =>
      draws.find((draw) => draw.rowsPerOption === size && draw.seed === seed)?.training ?? [];
    expect(of(32, 1).slice(0, 16)).toEqual(of(8, 1));
    expect(of(8, 2)).not.toEqual(of(8, 1));
  });

  it('say how many rows a task needs for all of them', () => {
    expect(countRowsNeeded(2, LIMITS)).toBe(128 + 50);
    expect(countRowsNeeded(10, LIMITS)).toBe(160 + 50);
    expect(countRowsNeeded(100, LIMITS)).toBe(50);
  });
});
