import { describe, expect, it } from 'vitest';
import { KeyValueBuffers, type KeyValues } from './key-values.ts';

const shape = { layers: 1, heads: 2, headSize: 1 };

/** Keys `[head][token]` as one row each; values are the negatives. */
function window(heads: number[][], borrowed = false): KeyValues {
  const keys = Float32Array.from(heads.flat());
  return { tokens: heads[0]?.length ?? 0, parts: [keys, keys.map((value) => -value)], borrowed };
}

async function* series(...windows: KeyValues[]): AsyncGenerator<KeyValues> {
  yield* windows;
}

const left = () =>
  window([
    [1, 2],
    [10, 20],
  ]);
const right = () => window([[3], [30]]);

describe('keys and values', () => {
  it('are joined along the tokens, head by head', async () => {
    const joined = await new KeyValueBuffers(shape, 8).join(3, series(left(), right()));
    expect(joined.parts.map((part) => [...part])).toEqual([
      [1, 2, 3, 10, 20, 30],
      [-1, -2, -3, -10, -20, -30],
    ]);
  });

  it('of one window are passed on, and freed on release', async () => {
    const only = left();
    const buffers = new KeyValueBuffers(shape, 8);
    expect((await buffers.join(2, series(only))).parts).toBe(only.parts);
    buffers.release();
    expect(only.parts[0]?.length).toBe(0);
  });

  it('in shared memory are copied even when they are the only window', async () => {
    const memory = new SharedArrayBuffer(16);
    const parts = [new Float32Array(memory, 0, 2), new Float32Array(memory, 8, 2)];
    const joined = await new KeyValueBuffers(shape, 8).join(1, series({ tokens: 1, parts, borrowed: true }));
    expect(joined.parts[0]?.buffer).toBeInstanceOf(ArrayBuffer);
  });

  it('of others are freed once copied, unless they are borrowed', async () => {
    const [owned, borrowed] = [right(), window([[7], [70]], true)];
    await new KeyValueBuffers(shape, 8).join(2, series(owned, borrowed));
    expect(owned.parts[0]?.length).toBe(0);
    expect(borrowed.parts[0]?.length).toBe(2);
  });

  it('reuse a buffer for the next document, also a shorter one', async () => {
    const buffers = new KeyValueBuffers(shape, 8);
    const first = await buffers.join(3, series(left(), right()));
    buffers.release();
    const second = await buffers.join(2, series(right(), right()));
    expect(second.parts[0]?.buffer).toBe(first.parts[0]?.buffer);
    expect([...(second.parts[0] ?? [])]).toEqual([3, 3, 30, 30]);
  });

  it('give the memory of a giant document back', async () => {
    const buffers = new KeyValueBuffers(shape, 2);
    const joined = await buffers.join(3, series(left(), right()));
    buffers.release();
    expect(joined.parts[0]?.length).toBe(0);
  });
});
