// What somebody may have meant.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNearest } from './near-miss.ts';

const MODELS = ['kev', 'text-embed-mini', 'llama', 'gpt-oss-20b'];

describe('the nearest name', () => {
  it.each([
    ['Kev', 'kev'],
    ['KEV', 'kev'],
    ['kve', undefined],
    ['kev-latest', 'kev'],
    ['kev:1', 'kev'],
    ['keV2', 'kev'],
    ['text_embed_mini', 'text-embed-mini'],
    ['textembedmini', 'text-embed-mini'],
    ['text-embed', 'text-embed-mini'],
    ['sentence-transformers/text-embed-mini', 'text-embed-mini'],
    ['txet-embed-mini', 'text-embed-mini'],
    ['lama', 'llama'],
    ['openai/gpt-oss-20b', 'gpt-oss-20b'],
    ['gpt-4', undefined],
    ['claude', undefined],
    ['', undefined],
    ['k', undefined],
    ['kev'.repeat(30), undefined],
  ])('to %j is %j', (name, expected) => expect(findNearest(name, MODELS)).toBe(expected));

  it('is one that is known, and the name itself where it is', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 100 }),
        fc.array(fc.string({ maxLength: 80 }), { maxLength: 8 }),
        (name, known) => {
          const found = findNearest(name, known);
          if (found !== undefined) expect(known).toContain(found);
          if (name !== '' && name.length <= 64) expect(findNearest(name, [name])).toBe(name);
        },
      ),
    );
  });
});
