import { describe, expect, it } from 'vitest';
import { cut as cutIds } from './cut.ts';

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
