import { describe, expect, it } from 'vitest';
import { softmax, temperatureBucket, temperatureOf } from './temperature.ts';

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
