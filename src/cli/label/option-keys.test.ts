import { describe, expect, it } from 'vitest';
import { findOption, optionKeys } from './option-keys.ts';

const choice = (count: number) => ({
  type: 'choice' as const,
  instructions: 'Which?',
  options: Array.from({ length: count }, (_, place) => ({ name: `o${place}`, description: null })),
});

describe('keys', () => {
  it('are y and n, the number of a level, or the place of an option', () => {
    expect(optionKeys({ type: 'noul', instructions: '?', whenFalse: null, whenTrue: null })).toEqual(['n', 'y']);
    expect(optionKeys({ type: 'score', instructions: '?', levels: ['a', 'b', 'c'] })).toEqual(['0', '1', '2']);
    expect(optionKeys(choice(3))).toEqual(['1', '2', '3']);
  });

  it.each([9, 10, 77, 99, 100, 255])('of %i options are all different, and none begins another', (count) => {
    const keys = optionKeys(choice(count));
    expect(new Set(keys).size).toBe(count);
    for (const key of keys) expect(keys.filter((other) => other.startsWith(key))).toEqual([key]);
  });

  it('are found as they are typed', () => {
    const keys = optionKeys(choice(12));
    expect([findOption(keys, '0'), findOption(keys, '01'), findOption(keys, '12'), findOption(keys, '13')]).toEqual([
      'begun',
      0,
      11,
      undefined,
    ]);
  });
});
