// Frames against what the reference library (tokenizers 0.23.3) gives for a text [7] and a pair [7], [8].

import { describe, expect, it } from 'vitest';
import { countFrameIds, type FrameFile, fillFrame, readFrames } from '../../../src/runtime/tokenizer/frames.ts';

const [first, second] = [Int32Array.of(7), Int32Array.of(8)];
const roberta = { type: 'RobertaProcessing', sep: ['</s>', 3], cls: ['<s>', 2] } as const;
const text = (id: string, type_id = 0) => ({ Sequence: { id, type_id } });
const special = (id: string, type_id = 0) => ({ SpecialToken: { id, type_id } });
const described = { '<s>': { ids: [2] }, '</s>': { ids: [3] } };
const template = (single: readonly object[], pair: readonly object[] = []) =>
  ({ post_processor: { type: 'TemplateProcessing', single, pair, special_tokens: described } }) as FrameFile;

function rowsOf(file: FrameFile) {
  const { single, pair } = readFrames(file);
  const one = fillFrame(single, first);
  const two = pair && fillFrame(pair, first, second);
  return { single: [...one.ids], pair: two && [...two.ids], types: two && [...two.types] };
}

describe('frames', () => {
  it('reads RoBERTa’s, with two separators and one type', () => {
    const rows = { single: [2, 7, 3], pair: [2, 7, 3, 3, 8, 3], types: [0, 0, 0, 0, 0, 0] };
    expect(rowsOf({ post_processor: roberta })).toEqual(rows);
    expect(rowsOf({ post_processor: { type: 'Sequence', processors: [{ type: 'ByteLevel' }, roberta] } })).toEqual(
      rows,
    );
  });

  it('reads BERT’s, the second text of type 1', () => {
    const rows = { single: [2, 7, 3], pair: [2, 7, 3, 8, 3], types: [0, 0, 0, 1, 1] };
    expect(rowsOf({ post_processor: { ...roberta, type: 'BertProcessing' } })).toEqual(rows);
    const single = [special('<s>'), text('A'), special('</s>')];
    expect(rowsOf(template(single, [...single, text('B', 1), special('</s>', 1)]))).toEqual(rows);
  });

  it('reads a suffix alone, and no pair where nothing parts the texts', () => {
    const rows = { single: [7, 3], pair: undefined, types: undefined };
    expect(rowsOf(template([text('A'), special('</s>')], [text('A'), text('B', 1)]))).toEqual(rows);
  });

  it.each([{}, { post_processor: null }, { post_processor: { type: 'ByteLevel' } }])('adds nothing for %j', (file) => {
    expect(rowsOf(file)).toEqual({ single: [7], pair: undefined, types: undefined });
  });

  it('counts what it adds', () => {
    const { single, pair } = readFrames({ post_processor: roberta });
    expect([countFrameIds(single), countFrameIds(pair ?? [])]).toEqual([2, 4]);
  });

  it.each([
    ['post-processor Novel', { post_processor: { type: 'Novel' } }],
    [
      'RobertaProcessing and BertProcessing',
      { post_processor: { type: 'Sequence', processors: [roberta, { ...roberta, type: 'BertProcessing' }] } },
    ],
    ['does not describe', template([special('<x>'), text('A')])],
    ['texts left out', template([special('<s>')])],
    ['texts second first', template([text('A')], [text('B'), special('</s>'), text('A')])],
    ['does not name its tokens', { post_processor: { type: 'BertProcessing' } }],
  ] as const)('refuses what it does not know: %s', (message, file) => {
    expect(() => readFrames(file)).toThrow(message);
  });
});
