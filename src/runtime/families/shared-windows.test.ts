import { describe, expect, it } from 'vitest';
import type { KeyValues } from './key-values.ts';
import { readShares, writeShare } from './shared-windows.ts';

const shape = { layers: 1, heads: 1, headSize: 2 };
const window = (...numbers: number[]): KeyValues => ({
  tokens: numbers.length / 4,
  parts: [
    Float32Array.from(numbers.slice(0, numbers.length / 2)),
    Float32Array.from(numbers.slice(numbers.length / 2)),
  ],
  borrowed: false,
});

async function* series(...windows: KeyValues[]): AsyncGenerator<KeyValues> {
  yield* windows;
}

async function readAll(...shares: Parameters<typeof readShares>[0]): Promise<number[][]> {
  const parts: number[][] = [];
  for await (const { parts: views } of readShares(shares, shape)) parts.push(...views.map((view) => [...view]));
  return parts;
}

const keys = (...tokens: number[]) => tokens.map((count) => ({ tokens: count, key: `${count}` }));

describe('shared windows', () => {
  it('read as they were written, share after share', async () => {
    const options = { shape, memory: undefined };
    const first = await writeShare(series(window(1, 2, 3, 4), window(5, 6, 7, 8, 9, 10, 11, 12)), keys(1, 2), options);
    const second = await writeShare(series(window(13, 14, 15, 16)), keys(1), options);
    expect(await readAll(first, second)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6, 7, 8],
      [9, 10, 11, 12],
      [13, 14],
      [15, 16],
    ]);
  });

  it('take the memory they are given when it is large enough', async () => {
    const memory = new SharedArrayBuffer(64);
    const used = await writeShare(series(window(1, 2, 3, 4)), keys(1), { shape, memory });
    expect(used.memory).toBe(memory);
    expect(await readAll(used)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    const larger = await writeShare(series(window(...Array.from({ length: 20 }, (_, i) => i))), keys(5), {
      shape,
      memory,
    });
    expect(larger.memory).not.toBe(memory);
  });

  it('may be none', async () => {
    expect(await readAll(await writeShare(series(), [], { shape, memory: undefined }))).toEqual([]);
  });
});
