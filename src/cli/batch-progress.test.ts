import { describe, expect, it } from 'vitest';
import {
  type BatchCounts,
  describeProgress,
  describeSeconds,
  RowRate,
  renderProgressBar,
  shortUsd,
} from './batch-progress.ts';

const COUNTS: BatchCounts = { before: 204, rows: 1000, errors: 3, costPicoUsd: 4_600_000_000n, total: 2000 };

describe('the progress of a batch', () => {
  it('says how far, how fast, how long, how dear, how many errors', () => {
    expect(describeProgress(COUNTS, 72.06)).toBe(
      '1,204 of 2,000 rows (60 %), 72.1 rows/s, 12 s left, $0.0046, 3 errors',
    );
    expect(describeProgress({ ...COUNTS, rows: 0, errors: 0, costPicoUsd: 0n }, Number.NaN)).toBe(
      '204 of 2,000 rows (10 %)',
    );
    expect(describeProgress({ ...COUNTS, total: undefined }, 2)).toBe('1,204 rows, 2.00 rows/s, $0.0046, 3 errors');
  });

  it('has a bar where the terminal is wide enough, and never more than a line', () => {
    expect(renderProgressBar(COUNTS, 72.06, 120)).toMatch(/^█{14}░{10} 1,204 of 2,000 rows/);
    expect(renderProgressBar(COUNTS, 72.06, 80)).toMatch(/^1,204 of/);
    expect(renderProgressBar(COUNTS, 72.06, 20)).toHaveLength(19);
  });

  it('counts the last moments for its rate', () => {
    const rate = new RowRate(0);
    expect(rate.update(10_000, 100)).toBe(10);
    expect(rate.update(20_000, 100)).toBe(5);
    expect(rate.update(31_000, 100)).toBe(0);
  });

  it('tells times and small amounts as people do', () => {
    expect([0.2, 59, 60, 200, 7500].map(describeSeconds)).toEqual([
      '1 s',
      '59 s',
      '1 min 0 s',
      '3 min 20 s',
      '2 h 5 min',
    ]);
    expect([0n, 39_000n, 12_345_678_900_000n, 123_456_000_000n].map(shortUsd)).toEqual([
      '$0.0000',
      '$0.000000039',
      '$12.3456',
      '$0.1234',
    ]);
  });
});
