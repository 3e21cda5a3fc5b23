// The tables of the bench line up and round honestly.

import { describe, expect, it } from 'vitest';
import { formatNumber, formatTable } from '../../../bench/pages/table.ts';

describe('formatNumber', () => {
  it.each([
    [3, '3'],
    [0.456, '0.46'],
    [45.67, '45.7'],
    [20_123.4, '20123'],
    [Number.NaN, '–'],
  ])('prints %s as %s', (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });
});

describe('formatTable', () => {
  it('aligns texts to the left and numbers to the right', () => {
    const table = formatTable([
      ['mix', 'p50 ms'],
      ['short', 3.5],
      ['long', 1200.4],
    ]);
    expect(table).toBe(['mix    p50 ms', '-----  ------', 'short    3.50', 'long     1200'].join('\n'));
  });
});
