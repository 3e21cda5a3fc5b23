import { describe, expect, it } from 'vitest';
import type { Pooling } from '../../model-folder/manifest.ts';
import { poolRow } from './pooling.ts';

/** Three tokens of two numbers. */
const output = { values: Float32Array.of(3, 4, 0, 5, 12, -5), dims: [1, 3, 2] };
const pooled = (pooling: Pooling, from = 0, more: object = {}) =>
  [...poolRow(output, { size: 3, from }, { pooling, dimensions: 2, ...more })].map((value) => Number(value.toFixed(6)));

describe('one vector of those of all tokens', () => {
  it('is the mean, that of the first, or that of the last, of length 1', () => {
    expect(pooled('mean')).toEqual([0.966235, 0.257663]);
    expect(pooled('cls')).toEqual([0.6, 0.8]);
    expect(pooled('last')).toEqual([0.923077, -0.384615]);
  });

  it('leaves out what stands before the first token that is pooled', () => {
    expect(pooled('mean', 1)).toEqual([1, 0]);
    expect(pooled('cls', 1)).toEqual([0, 1]);
    expect(pooled('last', 1)).toEqual([0.923077, -0.384615]);
  });

  it('is that of the last token where nothing else is left', () => expect(pooled('mean', 7)).toEqual(pooled('last')));

  it('is as the graph gave it where it has pooled and normalised', () => {
    const given = { values: Float32Array.of(0.6000001, 0.8), dims: [1, 2] };
    const manifest = { pooling: 'graph', dimensions: 2 } as const;
    expect(poolRow(given, { size: 3, from: 0 }, { ...manifest, normalized: true })).toEqual(given.values);
    expect(poolRow(given, { size: 3, from: 0 }, manifest)).not.toEqual(given.values);
  });

  it('stays of length 0 where it has no direction', () => {
    const nothing = { values: new Float32Array(2), dims: [1, 2] };
    expect([...poolRow(nothing, { size: 1, from: 0 }, { pooling: 'graph', dimensions: 2 })]).toEqual([0, 0]);
  });

  it.each([
    ['of another number of tokens', [1, 2, 3], 'a tensor of [1, 2, 3] where [1, 3, 2] was due'],
    ['that is pooled already', [1, 2], 'a tensor of [1, 2] where [1, 3, 2] was due'],
  ])('is not made of an output %s', (_what, dims, message) => {
    expect(() => poolRow({ ...output, dims }, { size: 3, from: 0 }, { pooling: 'mean', dimensions: 2 })).toThrow(
      message,
    );
  });

  it('is never something that is no number', () => {
    const broken = { values: Float32Array.of(1, Number.NaN), dims: [1, 1, 2] };
    expect(() => poolRow(broken, { size: 1, from: 0 }, { pooling: 'mean', dimensions: 2 })).toThrow('is no number');
  });
});
