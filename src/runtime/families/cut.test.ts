import { describe, expect, it } from 'vitest';
import { cut as cutIds, cutShare } from './cut.ts';

/** Ids of 100 and more continue a word. */
const continues = (id: number): boolean => id >= 100;

const cut = (ids: readonly number[], ...rest: [number, typeof continues]): number[][] =>
  cutIds(Int32Array.from(ids), ...rest).map((slice) => [...slice]);

describe('cut', () => {
  it('makes no slices of no ids', () => expect(cut([], 4, continues)).toEqual([]));

  it('keeps what fits in one slice', () => expect(cut([1, 2, 3, 4], 4, continues)).toEqual([[1, 2, 3, 4]]));

  it('cuts between words at the size', () => expect(cut([1, 2, 3, 4, 5], 2, continues)).toEqual([[1, 2], [3, 4], [5]]));

  it('ends before a word that would be split', () => {
    expect(cut([1, 2, 3, 101, 102, 4], 4, continues)).toEqual([
      [1, 2],
      [3, 101, 102, 4],
    ]);
  });

  it('splits a word when less than half a slice would remain', () => {
    expect(cut([1, 101, 102, 103, 104], 4, continues)).toEqual([[1, 101, 102, 103], [104]]);
  });

  it('keeps a slice of exactly half', () => {
    expect(cut([1, 2, 101, 102, 103], 2, continues)).toEqual([[1], [2, 101], [102, 103]]);
  });

  it('loses and repeats nothing', () => {
    const ids = Array.from({ length: 500 }, (_, i) => (i * 7919) % 150);
    expect(cut(ids, 16, continues).flat()).toEqual(ids);
    expect(cut(ids, 16, continues).every((slice) => slice.length <= 16)).toBe(true);
  });
});

describe('shares of a list', () => {
  it.each([
    [0, 3],
    [1, 4],
    [7, 3],
    [8, 4],
  ])('of %i items for %i are all of them, in order, about as many each', (length, count) => {
    const items = Array.from({ length }, (_, item) => item);
    const shares = Array.from({ length: count }, (_, index) => cutShare(items, index, count));
    expect(shares.flat()).toEqual(items);
    const lengths = shares.map((share) => share.length);
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
  });
});
