// Options of tokenizer.json that published families use, against ids made by the reference library
// (models/training/fixtures/tokenizer_options.py).

import { describe, expect, it } from 'vitest';
import { PipelineTokenizer } from '../../../src/runtime/tokenizer/pipeline-tokenizer.ts';
import { refuseTokenizer } from '../../../src/runtime/tokenizer/refuse-tokenizer.ts';
import { hashOf, OPTIONS, readOptioned, SHARED_TEXTS } from './kinds.ts';

const DIGITS = 4;

describe.each(OPTIONS)('a tokenizer.json with the options of %s', (_, option) => {
  const file = readOptioned(option);

  it('is supported', () => expect(refuseTokenizer(file)).toBeUndefined());

  it('gives the ids of the reference for natural and hostile texts', () => {
    const tokenizer = new PipelineTokenizer(file);
    expect(option.hashes.length).toBe(DIGITS * SHARED_TEXTS.length);
    for (const [place, text] of SHARED_TEXTS.entries()) {
      const hash = hashOf(tokenizer.encode(text)).slice(0, DIGITS);
      expect(hash, JSON.stringify(text)).toBe(option.hashes.slice(DIGITS * place, DIGITS * (place + 1)));
    }
  });

  it('reads the same under a limit that is not passed, and more than the limit under one that is', () => {
    const tokenizer = new PipelineTokenizer(file);
    for (const text of SHARED_TEXTS) {
      const ids = tokenizer.encode(text);
      expect(tokenizer.encode(text, ids.length), JSON.stringify(text)).toEqual(ids);
      if (ids.length > 0)
        expect(tokenizer.encode(text, ids.length - 1).length, JSON.stringify(text)).toBeGreaterThanOrEqual(ids.length);
    }
  });
});
