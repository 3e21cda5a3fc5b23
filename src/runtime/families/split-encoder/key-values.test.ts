import { describe, expect, it } from 'vitest';
import { freeArrays, KeyValueLayout, type KeyValues } from './key-values.ts';

const layout = new KeyValueLayout({ layers: 1, heads: 2, headSize: 1 });

/** Keys `[head][token]` as one row each; values are the negatives. */
function window(...heads: number[][]): KeyValues {
  const keys = Float32Array.from(heads.flat());
  return { tokens: heads[0]?.length ?? 0, parts: [keys, keys.map((value) => -value)] };
}

describe('keys and values', () => {
  it('of windows are joined along the tokens, head by head', () => {
    const joined = layout.view(new Float32Array(layout.floats(3)), 3);
    layout.copy(window([1, 2], [10, 20]), joined, { tokens: 2, from: 0, to: 0 });
    layout.copy(window([3], [30]), joined, { tokens: 1, from: 0, to: 2 });
    expect(joined.parts.map((part) => [...part])).toEqual([
      [1, 2, 3, 10, 20, 30],
      [-1, -2, -3, -10, -20, -30],
    ]);
  });

  it('of one window are taken out of the middle of a document', () => {
    const alone = layout.view(new Float32Array(layout.floats(2)), 2);
    layout.copy(window([1, 2, 3, 4], [10, 20, 30, 40]), alone, { tokens: 2, from: 1, to: 0 });
    expect(alone.parts.map((part) => [...part])).toEqual([
      [2, 3, 20, 30],
      [-2, -3, -20, -30],
    ]);
  });

  it('come to one vector: the mean of the last values, head by head', () => {
    const wide = new KeyValueLayout({ layers: 2, heads: 2, headSize: 2 });
    const values = Float32Array.of(1, 10, 3, 30, 5, 50, 7, 70, 9, 90, 2, 20);
    const parts = [new Float32Array(12), new Float32Array(12), new Float32Array(12), values];
    expect([...wide.vectorOf({ tokens: 3, parts })]).toEqual([3, 30, 6, 60]);
  });

  it('are views of the memory they were given', () => {
    const memory = new Float32Array(new SharedArrayBuffer(64));
    const { parts } = layout.view(memory, 2);
    parts[1]?.set([7]);
    expect([parts.length, memory[4]]).toEqual([2, 7]);
  });

  it('are freed at once, where the memory is not shared', () => {
    const arrays = [new Float32Array(4), new Float32Array(new SharedArrayBuffer(16))];
    freeArrays(arrays);
    expect(arrays.map(({ length }) => length)).toEqual([0, 4]);
  });
});
