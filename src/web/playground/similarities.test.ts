import { expect, it } from 'vitest';
import { readVectors, similaritiesOf } from './similarities.ts';

it('a vector is as near to itself as can be, and far from one that stands across', () => {
  expect(
    similaritiesOf([
      [2, 0],
      [0, 3],
      [-1, 0],
    ]),
  ).toEqual([
    [1, 0, -1],
    [0, 1, 0],
    [-1, 0, 1],
  ]);
});

it('a vector of zeros is near to nothing, and no figure is NaN', () => {
  expect(
    similaritiesOf([
      [0, 0],
      [1, 0],
    ]),
  ).toEqual([
    [0, 0],
    [0, 1],
  ]);
});

it('a reply without vectors has none', () => {
  expect(readVectors({ data: [{ embedding: [1, 2] }] })).toEqual([[1, 2]]);
  expect(readVectors(null)).toEqual([]);
  expect(readVectors({ data: 'x' })).toEqual([]);
});
