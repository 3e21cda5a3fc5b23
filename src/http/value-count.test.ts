import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ValueCount } from './value-count.ts';

function countOf(text: string, pieceBytes = Number.POSITIVE_INFINITY): ValueCount {
  const bytes = Buffer.from(text);
  const count = new ValueCount();
  for (let at = 0; at < bytes.length; at += pieceBytes) count.add(bytes.subarray(at, at + pieceBytes));
  return count;
}

/** Values of what a text was written from; empty containers twice. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const inner = Object.values(value);
  return inner.length === 0 ? 2 : inner.reduce<number>((sum, one) => sum + valuesIn(one), 1);
}

describe('ValueCount', () => {
  it.each([
    ['1', 1, 0, 0],
    ['[1,2,3]', 4, 1, 1],
    ['{"a":{"b":[null]},"c":"x"}', 5, 3, 3],
    ['"[{,\\"[{,"', 1, 0, 0],
    ['["\\\\",1]', 3, 1, 1],
    ['[[],{}]', 5, 3, 2],
  ])('counts %s', (text, values, containers, deepest) => {
    const count = countOf(text);
    expect([count.values, count.containers, count.deepest]).toEqual([values, containers, deepest]);
  });

  it('counts the same wherever the bytes are cut', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 7 }), (value, pieceBytes) => {
        expect(countOf(JSON.stringify(value), pieceBytes).values).toBe(valuesIn(value));
      }),
      { seed: 13 },
    );
  });
});
