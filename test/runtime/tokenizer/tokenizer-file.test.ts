import { describe, expect, it } from 'vitest';
import type { Merge } from '../../../src/runtime/tokenizer/byte-pair.ts';
import { PipelineTokenizer } from '../../../src/runtime/tokenizer/pipeline-tokenizer.ts';
import { readTokenizerFile } from '../../../src/runtime/tokenizer/tokenizer-file.ts';
import { hashOf, KINDS, readKind, textsOf } from './kinds.ts';

interface Read {
  readonly model: { readonly merges: Iterable<Merge> & { readonly length: number } };
}

/** With its merges as an array again. */
function plain(text: string): unknown {
  const file = readTokenizerFile(Buffer.from(text)) as Read;
  const merges = [...file.model.merges];
  expect(file.model.merges.length).toBe(merges.length);
  return { ...file, model: { ...file.model, merges } };
}

describe('the reader of tokenizer.json', () => {
  it.each(KINDS)('gives a tokenizer of the same ids as JSON has it: %s', (kind) => {
    const text = JSON.stringify(readKind(kind), null, 2);
    const [read, parsed] = [readTokenizerFile(Buffer.from(text)), JSON.parse(text)];
    const [one, other] = [new PipelineTokenizer(read as object), new PipelineTokenizer(parsed as object)];
    for (const { text: sample } of textsOf(kind)) expect(hashOf(one.encode(sample))).toBe(hashOf(other.encode(sample)));
  });

  it.each([0, 2])('gives everything as JSON has it, indented by %i', (indent) => {
    const merges = Array.from({ length: 10_000 }, (_, rank) =>
      rank % 3 === 0 ? `a b${rank}` : [`"]\\${rank}`, '[,中"'],
    );
    const vocab = { '"merges": [': 0, merges: 1, '\\': 2, '"': 3 };
    const file = {
      added_tokens: [{ id: 0, content: '"merges": [' }],
      model: { type: 'BPE', vocab, merges },
      after: [1],
    };
    expect(plain(JSON.stringify(file, null, indent))).toEqual(file);
  });

  it.each([
    { model: { merges: [] } },
    { model: { merges: ['a b'] }, merges: 3 },
    { model: { vocab: { merges: 1 }, merges: [['[', ']']] } },
  ])('gives %j as JSON has it', (file) => expect(plain(JSON.stringify(file))).toEqual(file));

  it.each([
    { merges: ['a b'], model: { merges: ['c d'] } },
    { model: { merges: null } },
    { 'x"merges': ['a b'], model: {} },
    {},
    [],
  ])('gives %j, which has its merges elsewhere or none, as JSON has it', (file) => {
    expect(JSON.parse(JSON.stringify(readTokenizerFile(Buffer.from(JSON.stringify(file)))))).toEqual(file);
  });

  it.each(['{"model": {"merges": ["a b"', '{"model": {"merges": ["a b", ]}}', '{"model": {"merges": ["a b"]}', ''])(
    'throws for what is cut or no JSON: %s',
    (text) => {
      expect(() => [...((readTokenizerFile(Buffer.from(text)) as Read).model.merges ?? [])]).toThrow(SyntaxError);
    },
  );
});
