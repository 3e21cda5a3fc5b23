// Tokenizers that are not BERT's, against ids made by the reference library (models/training/fixtures/bpe_tokenizer.py).

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isBertFile } from '../../../src/runtime/tokenizer/bert-file.ts';
import { LibraryTokenizer } from '../../../src/runtime/tokenizer/library-tokenizer.ts';

const readJson = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../models/fixtures/${name}`, import.meta.url), 'utf8'));
const file = readJson('bpe-tokenizer.json') as object;
const cases = readJson('bpe-ids.json') as { text: string; ids: number[] }[];
const tokenizer = new LibraryTokenizer(file);

describe('library tokenizer', () => {
  it('is for files that are not of BERT', () => expect(isBertFile(file)).toBe(false));

  it.each(cases)('gives the reference ids for $text', ({ text, ids }) => {
    expect([...tokenizer.encode(text)]).toEqual(ids);
  });

  it('never reads a special token from a text', () => {
    const { cls, sep } = tokenizer.special;
    const ids = tokenizer.encode('<s></s>');
    expect(ids).not.toContain(cls);
    expect(ids).not.toContain(sep);
  });

  it('knows its special tokens and the size of its vocabulary', () => {
    expect(tokenizer.special).toEqual({ cls: 0, sep: 1 });
    expect(tokenizer.vocabularySize).toBe(320);
  });

  it('reads a lone surrogate as the replacement character', () => {
    expect(tokenizer.encode('a\ud800')).toEqual(tokenizer.encode('a\ufffd'));
  });

  it('refuses a file that frames no text', () => {
    expect(() => new LibraryTokenizer({ ...file, post_processor: null })).toThrow('two special tokens');
  });
});
