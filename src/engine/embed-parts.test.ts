import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { restorePlaces, splitEmbedInputs } from './embed-parts.ts';

describe('parts of an embedding call', () => {
  it('hold inputs of like length, at most so many characters', () => {
    const parts = splitEmbedInputs(['aaaa', 'b', 'cccccccc', 'dd', [1, 2]], 8);
    expect(parts.map(({ inputs }) => inputs.map(({ place }) => place))).toEqual([[1, 3, 0], [2], [4]]);
  });

  it('hold one input at least', () => expect(splitEmbedInputs(['too long by far', ''], 1)).toHaveLength(2));

  it('put every value back in its place', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), fc.integer({ min: 1, max: 30 }), (inputs, size) => {
        const parts = splitEmbedInputs(inputs, size);
        const values = parts.map((part) => part.inputs.map(({ input }) => input));
        expect(restorePlaces(parts, values)).toEqual(inputs);
      }),
    );
  });
});
