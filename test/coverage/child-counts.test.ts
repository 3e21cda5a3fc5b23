// Counts of V8, read as the parts of a source.

import { expect, it } from 'vitest';
import { countAtOf } from './child-counts.ts';

it('takes the innermost range that holds a position', () => {
  const at = countAtOf([
    { startOffset: 20, endOffset: 40, count: 3 },
    { startOffset: 0, endOffset: 100, count: 1 },
    { startOffset: 30, endOffset: 35, count: 0 },
  ]);
  expect([0, 19, 20, 29, 30, 34, 35, 40, 99].map(at)).toEqual([1, 1, 3, 3, 0, 0, 3, 1, 1]);
});

it('knows nothing of what lies outside', () => {
  expect(countAtOf([{ startOffset: 0, endOffset: 10, count: 1 }])(10)).toBeUndefined();
});
