// The BERT tokenizer against ids made by the reference library (models/training/fixtures/tokenizer_ids.py).

import { describe, expect, it } from 'vitest';
import { BertTokenizer } from '../../../src/runtime/tokenizer/bert-tokenizer.ts';
import { readPackedJson } from '../../models/packed-json.ts';
import { readShippedTokenizer } from '../../models/shipped-tokenizer.ts';

interface Fixture {
  readonly text: string;
  readonly ids: readonly number[];
}

const tokenizer = new BertTokenizer(readShippedTokenizer('text-embed-mini'));
const fixtures = readPackedJson(new URL('../../models/fixtures/tokenizer-ids.json.gz', import.meta.url)) as Fixture[];

describe('BERT tokenizer', () => {
  it('has enough fixtures', () => expect(fixtures.length).toBeGreaterThan(200));

  it.each(fixtures)('gives the reference ids for $text', ({ text, ids }) => {
    expect([...tokenizer.encode(text)]).toEqual(ids);
  });

  it('reads 100,000 letters without a space as one unknown word', () => {
    expect(tokenizer.encode('x'.repeat(100_000))).toHaveLength(1);
  });

  it('reads a hundred thousand combining marks in a row in a moment', () => {
    expect(tokenizer.encode('\u0301\u0316\u0345\u{1d165}\u302e'.repeat(20_000)).length).toBeLessThanOrEqual(1);
  });

  it('reads a text the same however far from its start a marked letter stands', () => {
    const word = 'a\u0323\u0302e\u0301\u0323 ậ 각 \u{1d15e}\u{1d165} ';
    const once = tokenizer.encode(word);
    for (let letters = 200; letters < 300; letters++) {
      const [filler, text] = ['x '.repeat(letters), word.repeat(20)];
      expect([...tokenizer.encode(filler + text)]).toEqual([
        ...tokenizer.encode(filler),
        ...Array.from({ length: 20 }, () => [...once]).flat(),
      ]);
    }
  });

  it('knows which tokens go on with a word', () => {
    const ids = [...tokenizer.encode('unbelievably')];
    expect(ids.map((id) => tokenizer.isContinuation(id))).toEqual(ids.map((_, place) => place > 0));
  });

  it('refuses a tokenizer of another kind', () => {
    expect(() => new BertTokenizer({ model: { type: 'BPE' } })).toThrow('tokenizer.json');
  });
});
