import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { restorePlaces, type SizedInput, splitEmbedInputs } from './embed-parts.ts';

const sized = (tokens: readonly number[]): SizedInput[] =>
  tokens.map((each, place) => ({ place, input: `${each}`, tokens: each, costMs: each / 10 }));
const places = (tokens: readonly number[], limits: { paddedTokens: number; costMs: number }) =>
  splitEmbedInputs(sized(tokens), limits).map(({ inputs }) => inputs.map(({ place }) => place));

describe('parts of an embedding call', () => {
  it('hold inputs of like length, at most so many tokens when all are as long as the longest', () => {
    expect(places([40, 10, 80, 20, 10], { paddedTokens: 80, costMs: 1000 })).toEqual([[1, 4, 3], [0], [2]]);
  });

  it('hold at most so much work', () => {
    expect(places([10, 10, 10, 10], { paddedTokens: 1000, costMs: 2 })).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });

  it('hold one input at least', () => expect(places([100, 0], { paddedTokens: 1, costMs: 1 })).toHaveLength(2));

  it('put every value back in its place', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(300), { minLength: 1 }), fc.integer({ min: 1, max: 500 }), (tokens, paddedTokens) => {
        const parts = splitEmbedInputs(sized(tokens), { paddedTokens, costMs: 25 });
        const values = parts.map((part) => part.inputs.map(({ input }) => input));
        expect(restorePlaces(parts, values)).toEqual(tokens.map((each) => [String(each)]));
      }),
    );
  });
});
