// What a tokenizer.json may ask for, and how it is refused.

import { describe, expect, it } from 'vitest';
import { PipelineTokenizer } from '../../../src/runtime/tokenizer/pipeline-tokenizer.ts';
import { refuseTokenizer } from '../../../src/runtime/tokenizer/refuse-tokenizer.ts';
import { readShippedTokenizer } from '../../models/shipped-tokenizer.ts';
import { KINDS, type Kind, readKind } from './kinds.ts';

const bert = readShippedTokenizer('text-embed-mini') as {
  added_tokens: object[];
  model: { vocab: Record<string, number> };
};
const sequence = (...pretokenizers: object[]) => ({ type: 'Sequence', pretokenizers });
const changed = (kind: Kind, changes: object) => ({ ...readKind(kind), ...changes });
const changedModel = (kind: Kind, changes: object) => ({
  ...readKind(kind),
  model: { ...readKind(kind).model, ...changes },
});

describe('a tokenizer.json', () => {
  it.each(KINDS)('of %s is supported', (kind) => expect(refuseTokenizer(readKind(kind))).toBeUndefined());

  it('of BERT is supported, and of MPNet, which calls its special tokens otherwise', () => {
    expect(refuseTokenizer(bert)).toBeUndefined();
    const { '[CLS]': first = 0, '[SEP]': last = 0, ...vocab } = bert.model.vocab;
    const processor = { type: 'RobertaProcessing', cls: ['<s>', first], sep: ['</s>', last] };
    const mpnet = { ...bert, model: { ...bert.model, vocab: { ...vocab, '<s>': first, '</s>': last } } };
    expect(refuseTokenizer({ ...mpnet, post_processor: processor })).toBeUndefined();
  });

  it.each(KINDS)('of %s may say how to pad and to cut, which does not matter', (kind) => {
    const file = changed(kind, {
      truncation: { max_length: 3 },
      padding: { strategy: 'BatchLongest' },
      decoder: { type: 'Novel' },
    });
    expect(refuseTokenizer(file)).toBeUndefined();
    expect(new PipelineTokenizer(file).encode('more than three words are here').length).toBeGreaterThan(3);
  });

  it.each([
    [
      'a normalizer Nmt',
      changed('deberta-v3', { normalizer: { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Nmt' }] } }),
    ],
    ['a normalizer BertNormalizer', changed('deberta-v3', { normalizer: { type: 'BertNormalizer' } })],
    [
      'a normalizer Replace with the pattern .*',
      changed('qwen', { normalizer: { type: 'Replace', pattern: { Regex: '.*' }, content: '' } }),
    ],
    [
      'precompiled_charsmap is cut',
      changed('deberta-v3', { normalizer: { type: 'Precompiled', precompiled_charsmap: 'AAAA' } }),
    ],
    [
      'precompiled_charsmap is cut',
      changed('deberta-v3', { normalizer: { type: 'Precompiled', precompiled_charsmap: '/////w==' } }),
    ],
    ['a pre-tokenizer UnicodeScripts', changed('qwen', { pre_tokenizer: sequence({ type: 'UnicodeScripts' }) })],
    [
      'the split behavior Contiguous',
      changed('qwen', { pre_tokenizer: { type: 'Split', pattern: { String: 'x' }, behavior: 'Contiguous' } }),
    ],
    [
      'the pattern \\w+',
      changed('qwen', { pre_tokenizer: { type: 'Split', pattern: { Regex: '\\w+' }, behavior: 'Isolated' } }),
    ],
    [
      'the pattern \\p{L}++',
      changed('qwen', { pre_tokenizer: { type: 'Split', pattern: { Regex: '\\p{L}++' }, behavior: 'Isolated' } }),
    ],
    [
      'an empty pattern',
      changed('qwen', { pre_tokenizer: { type: 'Split', pattern: { String: '' }, behavior: 'Isolated' } }),
    ],
    [
      'ByteLevel before another one',
      changed('qwen', { pre_tokenizer: sequence({ type: 'ByteLevel' }, { type: 'Metaspace' }) }),
    ],
    ['ByteLevel before a Unigram model', changed('deberta-v3', { pre_tokenizer: { type: 'ByteLevel' } })],
    [
      'the prepend_scheme sometimes',
      changed('gemma', { pre_tokenizer: { type: 'Metaspace', prepend_scheme: 'sometimes' } }),
    ],
    [
      'the prepend_scheme first after',
      changed('deberta-v3', { pre_tokenizer: { type: 'Metaspace', prepend_scheme: 'first' } }),
    ],
    [
      'add_prefix_space false with the prepend_scheme always',
      changed('gemma', { pre_tokenizer: { type: 'Metaspace', add_prefix_space: false } }),
    ],
    ['dropout', changedModel('qwen', { dropout: 0.1 })],
    ['continuing_subword_prefix', changedModel('qwen', { continuing_subword_prefix: '##' })],
    ['end_of_word_suffix', changedModel('qwen', { end_of_word_suffix: '</w>' })],
    ['without an unknown token', changedModel('deberta-v3', { unk_id: null })],
    ['without a list of tokens', changedModel('deberta-v3', { vocab: {} })],
    ['a model WordLevel', changedModel('qwen', { type: 'WordLevel' })],
    ['a model undefined', {}],
    ['a model undefined', null],
    ['lstrip', changed('gemma', { added_tokens: [{ id: 5, content: '<x>', special: false, lstrip: true }] })],
    [
      'added tokens that are not special',
      { ...bert, added_tokens: [...bert.added_tokens, { id: 7, content: 'x', special: false }] },
    ],
    ['a pre-tokenizer Whitespace after a BertNormalizer', { ...bert, pre_tokenizer: { type: 'Whitespace' } }],
    ['a post-processor Novel', changed('qwen', { post_processor: { type: 'Novel' } })],
  ])('is refused by name: %s', (name, file) => {
    expect(refuseTokenizer(file)).toContain(name);
  });

  it.each(['no such', 'a b c', ''])('whose merges are not in its vocabulary opens no tokenizer: %j', (merge) => {
    const file = changedModel('qwen', { merges: [merge] });
    expect(() => new PipelineTokenizer(file)).toThrow('merges are not in its vocabulary');
  });

  it('that reads bytes, falls back to bytes and lacks one opens no tokenizer', () => {
    const { Ġ: _, ...vocab } = readKind('qwen').model.vocab as Record<string, number>;
    const file = changedModel('qwen', { byte_fallback: true, vocab, merges: [] });
    expect(() => new PipelineTokenizer(file)).toThrow('does not know every byte');
  });
});
