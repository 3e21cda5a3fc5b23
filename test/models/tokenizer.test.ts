// The tokenizer against ids made by the reference library (models/training/fixtures/tokenizer_ids.py).

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Tokenizer } from '../../src/runtime/tokenizer.ts';

interface Fixture {
  readonly text: string;
  readonly ids: readonly number[];
}

const root = new URL('../../', import.meta.url);
const readJson = (path: string): unknown => JSON.parse(readFileSync(new URL(path, root), 'utf8'));
const tokenizer = new Tokenizer(readJson('models/text-embed-mini/tokenizer.json'));
const fixtures = readJson('test/models/fixtures/tokenizer-ids.json') as Fixture[];

describe('tokenizer', () => {
  it('has enough fixtures', () => expect(fixtures.length).toBeGreaterThan(200));

  it.each(fixtures)('gives the reference ids for $text', ({ text, ids }) => {
    expect(tokenizer.encode(text)).toEqual(ids);
  });

  it('reads 100,000 letters without a space at once', () => {
    const startedMs = performance.now();
    expect(tokenizer.encode('x'.repeat(100_000))).toHaveLength(1);
    expect(performance.now() - startedMs).toBeLessThan(1000);
  });

  it('reads 100,000 letters in words of 90 in time linear in the text', () => {
    const words = Array.from({ length: 1100 }, (_, i) => `qzxv${i}`.repeat(18).slice(0, 90)).join(' ');
    tokenizer.encode(words);
    const startedMs = performance.now();
    tokenizer.encode(words);
    expect(performance.now() - startedMs).toBeLessThan(1000);
  });

  it('knows which tokens go on with a word', () => {
    const ids = tokenizer.encode('unbelievably');
    expect(ids.map((id) => tokenizer.isContinuation(id))).toEqual(ids.map((_, place) => place > 0));
  });

  it('refuses a tokenizer of another kind', () => {
    expect(() => new Tokenizer({ model: { type: 'BPE' } })).toThrow('tokenizer.json');
  });
});
