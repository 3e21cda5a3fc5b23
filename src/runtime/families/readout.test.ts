import { describe, expect, it } from 'vitest';
import { buildChunks } from './prompt.ts';
import { OptionPool, restoreOrder, softmax, temperatureBucket, temperatureOf } from './readout.ts';

describe('softmax', () => {
  it('sums to one and keeps the order', () => {
    const probabilities = softmax([1000, 999, -1000], 1);
    expect(probabilities.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
    expect(probabilities[0]).toBeCloseTo(1 / (1 + Math.exp(-1)), 12);
    expect(probabilities[2]).toBe(0);
  });

  it('is flatter at a higher temperature', () => {
    expect(softmax([2, 0], 2)[0]).toBeCloseTo(softmax([1, 0], 1)[0] ?? 0, 12);
  });
});

describe('temperature', () => {
  it.each([
    [1, '2'],
    [2, '2'],
    [3, '3-5'],
    [5, '3-5'],
    [6, '6-10'],
    [10, '6-10'],
    [11, '11+'],
    [255, '11+'],
  ])('of %d options is in bucket %s', (options, bucket) => expect(temperatureBucket(options)).toBe(bucket));

  it('takes the last bucket there is when the right one is missing', () => {
    expect(temperatureOf({ score: { '2': 1.5, '3-5': 2 } }, 'score', 9)).toBe(2);
    expect(temperatureOf({}, 'choice', 3)).toBe(1);
  });
});

describe('order', () => {
  it('is put back as the request had it', () =>
    expect(restoreOrder([0.1, 0.2, 0.7], [2, 0, 1])).toEqual([0.2, 0.7, 0.1]));
});

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
