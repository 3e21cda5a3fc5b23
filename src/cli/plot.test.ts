import { describe, expect, it } from 'vitest';
import { horizontalBar, logarithmicBins, sparkline } from './plot.ts';

describe('a plot of characters', () => {
  it('has a level for each value, the largest the highest, and nothing where there is no value', () => {
    expect(sparkline([0, 1, 4, 8, Number.NaN])).toBe('▁▂▅█ ');
    expect(sparkline([0, 0])).toBe('▁▁');
  });

  it('has bars as long as their share, to an eighth of a cell', () => {
    expect([0, 0.5, 1, 1 / 32].map((share) => horizontalBar(share, 4))).toEqual(['', '██', '████', '▏']);
  });

  it('has bins that hold every value once', () => {
    const values = [1, 2, 3, 12, 50, 100];
    const bins = logarithmicBins(values, 4);
    expect(bins.map(({ count }) => count)).toEqual([3, 0, 1, 2]);
    expect(bins.at(-1)?.to).toBeCloseTo(100, 6);
    expect(logarithmicBins([5, 5, 5], 4).map(({ count }) => count)).toEqual([3, 0, 0, 0]);
  });
});
