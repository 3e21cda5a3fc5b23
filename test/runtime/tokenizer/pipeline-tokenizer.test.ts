// Tokenizers that are not BERT's, against ids made by the reference library (models/training/fixtures/bpe_tokenizer.py and
// tokenizer_kinds.py).

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isBertFile } from '../../../src/runtime/tokenizer/bert-file.ts';
import { fillFrame } from '../../../src/runtime/tokenizer/frames.ts';
import { PipelineTokenizer } from '../../../src/runtime/tokenizer/pipeline-tokenizer.ts';
import { hashOf, KINDS, type Kind, readKind, readOption, textsOf } from './kinds.ts';

const readJson = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../models/fixtures/${name}`, import.meta.url), 'utf8'));
const file = readJson('bpe-tokenizer.json') as object;
const cases = readJson('bpe-ids.json') as { text: string; ids: number[] }[];
const tokenizer = new PipelineTokenizer(file);

describe('a tokenizer that is not of BERT', () => {
  it('is for files that are not of BERT', () => expect(isBertFile(file)).toBe(false));

  it.each(cases)('gives the reference ids for $text', ({ text, ids }) => {
    expect([...tokenizer.encode(text)]).toEqual(ids);
  });

  it('knows its added tokens and the size of its vocabulary', () => {
    expect([tokenizer.idOf('<s>'), tokenizer.idOf('</s>'), tokenizer.idOf('the')]).toEqual([0, 1, undefined]);
    expect(tokenizer.vocabularySize).toBe(320);
  });

  it('reads a lone surrogate as the replacement character', () => {
    expect(tokenizer.encode('a\ud800')).toEqual(tokenizer.encode('a\ufffd'));
  });

  it('refuses a file whose frame it cannot read', () => {
    expect(() => new PipelineTokenizer({ ...file, post_processor: { type: 'Novel' } })).toThrow('post-processor Novel');
  });
});

const frames: Record<Kind, { single: string[]; pair: string[]; types: number[] }> = {
  'xlm-roberta': {
    single: ['<s>', 'A', '</s>'],
    pair: ['<s>', 'A', '</s>', '</s>', 'B', '</s>'],
    types: [0, 0, 0, 0, 0, 0],
  },
  'deberta-v3': {
    single: ['[CLS]', 'A', '[SEP]'],
    pair: ['[CLS]', 'A', '[SEP]', 'B', '[SEP]'],
    types: [0, 0, 0, 1, 1],
  },
  modernbert: { single: ['[CLS]', 'A', '[SEP]'], pair: ['[CLS]', 'A', '[SEP]', 'B', '[SEP]'], types: [0, 0, 0, 0, 0] },
  roberta: { single: ['<s>', 'A', '</s>'], pair: ['<s>', 'A', '</s>', '</s>', 'B', '</s>'], types: [0, 0, 0, 0, 0, 0] },
  qwen: { single: ['A', '<|endoftext|>'], pair: ['A', '<|endoftext|>', 'B', '<|endoftext|>'], types: [0, 0, 0, 0] },
  gemma: {
    single: ['<bos>', 'A', '<eos>'],
    pair: ['<bos>', 'A', '<eos>', '<bos>', 'B', '<eos>'],
    types: [0, 0, 0, 1, 1, 1],
  },
};

const LONG = 2 * 1024 * 1024;

describe.each(KINDS)('the tokenizer of %s', (kind) => {
  const parsed = readKind(kind);
  const small = new PipelineTokenizer(parsed);

  it('gives the ids of the reference for natural and hostile texts', () => {
    const texts = textsOf(kind);
    expect(texts.length).toBeGreaterThan(600);
    for (const { text, hash } of texts) expect(hashOf(small.encode(text)), JSON.stringify(text)).toBe(hash);
  });

  it('never reads a special token from a text', () => {
    const specials = parsed.added_tokens.filter(({ special }) => special);
    const unknown = new Set(small.encode('\ufdd0'));
    expect(specials.length).toBeGreaterThan(1);
    for (const { content, id } of specials) {
      for (const text of [content, `a${content}b`, ` ${content} `, content.repeat(3)]) {
        if (!unknown.has(id)) expect([...small.encode(text)], text).not.toContain(id);
      }
    }
  });

  it('frames a text and a pair as the file says', () => {
    const [first, second] = [Int32Array.of(-1), Int32Array.of(-2)];
    const idsOf = (tokens: readonly string[]) => tokens.map((token) => ({ A: -1, B: -2 })[token] ?? small.idOf(token));
    const { single, pair, types } = frames[kind];
    expect([...fillFrame(small.frames.single, first).ids]).toEqual(idsOf(single));
    const row = fillFrame(small.frames.pair ?? [], first, second);
    expect([[...row.ids], [...row.types]]).toEqual([idsOf(pair), types]);
  });

  it('reads the same under a limit that is not passed, and more than the limit under one that is', () => {
    for (const { text } of textsOf(kind)) {
      const ids = small.encode(text);
      expect(small.encode(text, ids.length), JSON.stringify(text)).toEqual(ids);
      if (ids.length > 0)
        expect(small.encode(text, ids.length - 1).length, JSON.stringify(text)).toBeGreaterThanOrEqual(ids.length);
    }
  });

  it.each([
    ['one word', 'x'],
    ['Chinese', '中文没有空格'],
    ['spaces', ' '],
    ['lines', '\n'],
    ['marks', '\u0301\u0316\u0345\u302e'],
    ['marks that compose', 'a\u0323\u0307'],
    ['characters that vanish', '\u0001'],
    ['zeros', '\0'],
    ['joiners', '\u200d'],
    ['emoji', '👩\u200d❤\ufe0f\u200d👨'],
    ['unknown characters', '\u{12000}'],
    ['words', 'some words of a text, '],
  ])('answers two megabytes of %s: that there are too many tokens, or how many', (_, part) => {
    const text = part.repeat(LONG / part.length);
    const ids = small.encode(text, 512);
    if (ids.length <= 512) expect(ids).toEqual(small.encode(text));
    else expect(ids.slice(0, 256)).toEqual(small.encode(text.slice(0, 16_384)).slice(0, 256));
  });

  it('gives no vocabulary beyond its size', () => {
    const used = textsOf(kind).flatMap(({ text }) => [...small.encode(text)]);
    expect(used.every((id) => id >= 0 && id < small.vocabularySize)).toBe(true);
    for (const { id } of parsed.added_tokens) expect(id).toBeLessThan(small.vocabularySize);
  });
});

describe('a piece of more than a million characters', () => {
  const words = new PipelineTokenizer(readKind('qwen'));

  it.each(['x', '中', ' ', '-', ' \n'])('of %j is read to its end', (part) => {
    const [once, whole] = [200_000, 1_200_000].map((length) => words.encode(part.repeat(length / part.length)).length);
    expect(whole).toBeGreaterThan(5.9 * (once ?? 0));
    expect(whole).toBeLessThan(6.1 * (once ?? 0));
  });

  it('of Chinese is read to its end where a model knows no words', () => {
    const text = '中文没有空格'.repeat(200_000);
    const ids = new PipelineTokenizer(readOption('byte fallback unfused')).encode(text);
    expect(ids.length).toBeGreaterThan(200_000);
  });

  it.each(['x', '-'])('of %j is within a limit that its tokens are within', (part) => {
    const text = part.repeat(1_200_000);
    const ids = words.encode(text);
    expect(words.encode(text, ids.length)).toEqual(ids);
    expect(words.encode(text, ids.length - 1).length).toBeGreaterThanOrEqual(ids.length);
  });

  it('is refused where it is of marks alone, or longer than any limit allows', () => {
    expect(() => words.encode('\u0301\u0316'.repeat(600_000))).toThrow('make one piece for the tokenizer');
    expect(() => words.encode('中'.repeat(1 << 23))).toThrow('make one piece for the tokenizer');
  });

  it('is no matter of a text of many words', () => {
    const once = words.encode('some words, ');
    expect(words.encode('some words, '.repeat(100_000)).length).toBeGreaterThanOrEqual(100_000 * (once.length - 1));
  });

  it('is read to the end below that, the same at any place', () => {
    const [before, run] = ['some words, and more. '.repeat(5000), 'lengthening'.repeat(20_000)];
    const alone = [...words.encode(` ${run}`)];
    expect([...words.encode(`${before.trimEnd()} ${run}`)].slice(-alone.length)).toEqual(alone);
  });
});
