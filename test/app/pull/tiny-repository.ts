// Repositories as exporters write them, with models of a few hundred numbers: an embedder, a model of entailment, a
// reranker. Their graphs look up a vector for each token, and average where there are logits.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FLOAT32, INT64, type WrittenGraph, type WrittenValue, writeGraph } from './onnx-writer.ts';

const SPECIALS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789.,:!?()%$'];
const VOCABULARY = [...SPECIALS, ...LETTERS, ...LETTERS.map((letter) => `##${letter}`)];
const WIDTH = 8;

/** Content by path. */
export type RepositoryContent = Readonly<Record<string, string | Buffer>>;

export function writeRepository(folder: string, content: RepositoryContent): void {
  for (const [path, bytes] of Object.entries(content)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

export const json = (value: unknown): string => JSON.stringify(value);

const row = (name: string): WrittenValue => ({ name, type: INT64, shape: ['batch', 'sequence'] });
export const ROW_INPUTS = [row('input_ids'), row('attention_mask'), row('token_type_ids')];

/** The same numbers for the same seed. */
function randomNumbers(count: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x3fffffff - 1;
  });
}

/** A vector for each token of the vocabulary. */
export const TABLE = randomNumbers(VOCABULARY.length * WIDTH, 7);
/** As 8 bits keep it. */
const ROUNDED = TABLE.map((value) => Math.round(value * 127) / 127);
/** As a bad export has it. */
export const SCRAMBLED = TABLE.toReversed();

interface Lookup {
  readonly table?: Float32Array;
  /** Name of the file that has the table. */
  readonly file?: string;
}

/** Vectors of all tokens. */
export function embedderGraph({ table = TABLE, file }: Lookup = {}, changes: Partial<WrittenGraph> = {}): Buffer {
  return writeGraph({
    inputs: ROW_INPUTS,
    outputs: [{ name: 'last_hidden_state', type: FLOAT32, shape: ['batch', 'sequence', WIDTH] }],
    nodes: [{ type: 'Gather', inputs: ['table', 'input_ids'], outputs: ['last_hidden_state'], ints: { axis: 0 } }],
    tensors: [lookupTensor(table, file)],
    ...changes,
  });
}

/** Logits of a row. */
export function classifierGraph(labels: number, { table = TABLE, file }: Lookup = {}): Buffer {
  return writeGraph({
    inputs: ROW_INPUTS,
    outputs: [{ name: 'logits', type: FLOAT32, shape: ['batch', labels] }],
    nodes: [
      { type: 'Gather', inputs: ['table', 'input_ids'], outputs: ['tokens'], ints: { axis: 0 } },
      { type: 'ReduceMean', inputs: ['tokens'], outputs: ['mean'], ints: { axes: [1], keepdims: 0 } },
      { type: 'MatMul', inputs: ['mean', 'head'], outputs: ['logits'] },
    ],
    tensors: [
      lookupTensor(table, file),
      { name: 'head', dims: [WIDTH, labels], values: randomNumbers(WIDTH * labels, 11).map((value) => value * 6) },
    ],
  });
}

function lookupTensor(values: Float32Array, file: string | undefined) {
  return { name: 'table', dims: [VOCABULARY.length, WIDTH], values, ...(file !== undefined && { file }) };
}

const special = (id: number, content: string) => ({
  id,
  content,
  special: true,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
});
const token = (id: string, type: number) => ({ SpecialToken: { id, type_id: type } });
const text = (id: string, type: number) => ({ Sequence: { id, type_id: type } });

const TOKENIZER = {
  version: '1.0',
  truncation: { max_length: 16, strategy: 'LongestFirst', stride: 0, direction: 'Right' },
  padding: null,
  added_tokens: SPECIALS.map((content, id) => special(id, content)),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [token('[CLS]', 0), text('A', 0), token('[SEP]', 0)],
    pair: [token('[CLS]', 0), text('A', 0), token('[SEP]', 0), text('B', 1), token('[SEP]', 1)],
    special_tokens: Object.fromEntries(
      ['[CLS]', '[SEP]'].map((id) => [id, { id, ids: [SPECIALS.indexOf(id)], tokens: [id] }]),
    ),
  },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(VOCABULARY.map((piece, id) => [piece, id])),
  },
};

const COMMON: RepositoryContent = {
  'README.md': '---\nlicense: apache-2.0\n---\n# Tiny\n',
  'tokenizer.json': json(TOKENIZER),
  'tokenizer_config.json': json({ model_max_length: 600 }),
  // What lies in many repositories and is never fetched.
  'pytorch_model.bin': Buffer.alloc(100_000),
  'modeling_tiny.py': 'raise SystemExit("never run")\n',
};

const embedderConfig = {
  architectures: ['BertModel'],
  model_type: 'bert',
  max_position_embeddings: 600,
  hidden_size: WIDTH,
};

export const TINY_EMBEDDER: RepositoryContent = {
  ...COMMON,
  'config.json': json(embedderConfig),
  'modules.json': json([
    { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
    { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
  ]),
  '1_Pooling/config.json': json({ pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }),
  'config_sentence_transformers.json': json({ prompts: { query: 'query: ', document: '' } }),
  'onnx/model.onnx': embedderGraph(),
  'onnx/model_quantized.onnx': embedderGraph({ table: ROUNDED }),
};

export const TINY_ENTAILMENT: RepositoryContent = {
  ...COMMON,
  'config.json': json({
    ...embedderConfig,
    architectures: ['BertForSequenceClassification'],
    id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' },
  }),
  'onnx/model.onnx': classifierGraph(3),
  'onnx/model_quantized.onnx': classifierGraph(3, { table: ROUNDED }),
};

export const TINY_RERANKER: RepositoryContent = {
  ...COMMON,
  'config.json': json({
    ...embedderConfig,
    architectures: ['BertForSequenceClassification'],
    id2label: { 0: 'LABEL_0' },
  }),
  'onnx/model.onnx': classifierGraph(1, { file: 'model.onnx_data' }),
  'onnx/model.onnx_data': Buffer.from(TABLE.buffer, TABLE.byteOffset, TABLE.byteLength),
};
