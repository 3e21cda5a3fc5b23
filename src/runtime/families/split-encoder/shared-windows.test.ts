import { describe, expect, it } from 'vitest';
import { KeyValueLayout } from './key-values.ts';
import { openShare, viewShare } from './shared-windows.ts';

const layout = new KeyValueLayout({ layers: 1, heads: 1, headSize: 2 });
const keys = (...tokens: number[]) => tokens.map((count) => ({ tokens: count, key: `${count}` }));

describe('shared windows', () => {
  it('lie one after the other in memory that all threads see', () => {
    const share = openShare(keys(1, 2), layout, undefined);
    new Float32Array(share.memory).set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    const parts = viewShare(share, layout).map((window) => window.parts.map((part) => [...part]));
    expect(parts).toEqual([
      [
        [1, 2],
        [3, 4],
      ],
      [
        [5, 6, 7, 8],
        [9, 10, 11, 12],
      ],
    ]);
    expect(share.memory.byteLength).toBe(48);
  });

  it('take the memory they are given when it is large enough', () => {
    const memory = new SharedArrayBuffer(64);
    expect(openShare(keys(1), layout, memory).memory).toBe(memory);
    expect(openShare(keys(5), layout, memory).memory).not.toBe(memory);
  });

  it('may be none', () => {
    expect(viewShare(openShare([], layout, undefined), layout)).toEqual([]);
  });
});
