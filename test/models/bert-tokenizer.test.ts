// The BERT tokenizer against ids made by the reference library (models/training/fixtures/tokenizer_ids.py).

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BertTokenizer } from '../../src/runtime/bert-tokenizer.ts';

interface Fixture {
  readonly text: string;
  readonly ids: readonly number[];
}

const root = new URL('../../', import.meta.url);
const readJson = (path: string): unknown => JSON.parse(readFileSync(new URL(path, root), 'utf8'));
const tokenizer = new BertTokenizer(readJson('models/text-embed-mini/tokenizer.json'));
const fixtures = readJson('test/models/fixtures/tokenizer-ids.json') as Fixture[];

describe('BERT tokenizer', () => {
  it('has enough fixtures', () => expect(fixtures.length).toBeGreaterThan(200));

  it.each(fixtures)('gives the reference ids for $text', ({ text, ids }) => {
    expect(tokenizer.encode(text)).toEqual(ids);
  });

  it('reads 100,000 letters without a space as one unknown word', () => {
    expect(tokenizer.encode('x'.repeat(100_000))).toHaveLength(1);
  });

  it('knows which tokens go on with a word', () => {
    const ids = tokenizer.encode('unbelievably');
    expect(ids.map((id) => tokenizer.isContinuation(id))).toEqual(ids.map((_, place) => place > 0));
  });

  it('refuses a tokenizer of another kind', () => {
    expect(() => new BertTokenizer({ model: { type: 'BPE' } })).toThrow('tokenizer.json');
  });
});
