import { describe, expect, it } from 'vitest';
import { buildChunks } from './prompt.ts';
import { OptionPool } from './readout.ts';

describe('pooling', () => {
  it('weighs the pieces of an option by their tokens, over chunks', () => {
    const chunks = buildChunks([1, 2], [[[5, 6, 7], [8]], [[9, 9]]], 5);
    const pool = new OptionPool(2);
    const vectors = [
      [2, 0, 1, 1],
      [6, 4],
      [1, 1],
    ];
    expect(chunks.map(({ options, lengths }) => ({ options, lengths }))).toEqual([
      { options: [0], lengths: [3] },
      { options: [0, 1], lengths: [1, 2] },
    ]);
    pool.add(chunks[0] ?? fail(), Float32Array.from(vectors[1] ?? []));
    pool.add(chunks[1] ?? fail(), Float32Array.from(vectors[0] ?? []));
    expect([...pool.vectors()]).toEqual([(3 * 6 + 2) / 4, (3 * 4 + 0) / 4, 1, 1]);
  });
});

function fail(): never {
  throw new Error('no such chunk');
}
