import { describe, expect, it } from 'vitest';
import { sliceForDevice } from './device-slices.ts';

const rows = (count: number, tokens = 34): number[] => Array.from({ length: count }, () => tokens);
const placesOf = (slices: ReturnType<typeof sliceForDevice>) => slices.map(({ places }) => places.length);

describe('the questions of a decision on a device', () => {
  it('stay together where one run takes them', () => {
    const size = { stateTokens: 300, questionTokens: rows(64), runTokens: 16_384, isExact: false };
    expect(sliceForDevice(size)).toEqual([{ places: rows(64).map((_, place) => place), tokens: 300 + 64 * 34 }]);
  });

  it('are as many in a slice as find room beside their document, in their order', () => {
    const size = { stateTokens: 4000, questionTokens: rows(10, 500), runTokens: 5000, isExact: false };
    const slices = sliceForDevice(size);
    expect(placesOf(slices)).toEqual([2, 2, 2, 2, 2]);
    expect(slices.flatMap(({ places }) => places)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(slices.every(({ tokens }) => tokens === 5000)).toBe(true);
  });

  it('are as many as their keys and values have memory for', () => {
    const size = { stateTokens: 8000, questionTokens: rows(40), runTokens: 16_384, isExact: false };
    expect(placesOf(sliceForDevice(size))).toEqual([16, 16, 8]);
  });

  it('have a quarter of a run where the document alone fills it', () => {
    const size = { stateTokens: 4096, questionTokens: rows(8, 500), runTokens: 4096, isExact: false };
    expect(placesOf(sliceForDevice(size))).toEqual([2, 2, 2, 2]);
  });

  it('come with the document each where each has a run of its own', () => {
    const size = { stateTokens: 4000, questionTokens: rows(6), runTokens: 16_384, isExact: true };
    expect(sliceForDevice(size).map(({ places, tokens }) => [places.length, tokens])).toEqual([
      [4, 4 * 4034],
      [2, 2 * 4034],
    ]);
  });

  it('have a slice each where they are longer than a run', () => {
    const size = { stateTokens: 9000, questionTokens: [9000, 20, 9000], runTokens: 8192, isExact: false };
    expect(placesOf(sliceForDevice(size))).toEqual([1, 1, 1]);
  });
});
