// A repository as a table: what it lists, and what its small files hold. The shapes are those that exporters write.

import type { RecipeSource } from '../../src/recipe/recipe-files.ts';

/** JSON by path; a number is the size of a file that nobody reads. */
export type RepositoryTable = Readonly<Record<string, unknown>>;

export function repository(table: RepositoryTable): RecipeSource {
  return {
    files: Object.entries(table).map(([path, content]) => ({
      path,
      bytes: typeof content === 'number' ? content : JSON.stringify(content).length,
    })),
    readText: async (path) => (typeof table[path] === 'string' ? table[path] : JSON.stringify(table[path])),
  };
}

const GRAPHS = { 'onnx/model.onnx': 90_000, 'onnx/model_quantized.onnx': 23_000 };
const TOKENIZER = { 'tokenizer.json': {}, 'tokenizer_config.json': { model_max_length: 512 } };

/** As sentence-transformers 5 and before writes an embedder. */
export const EMBEDDER: RepositoryTable = {
  ...GRAPHS,
  ...TOKENIZER,
  'config.json': { architectures: ['BertModel'], model_type: 'bert', max_position_embeddings: 512 },
  'modules.json': [
    { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
    { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
    { idx: 2, name: '2', path: '2_Normalize', type: 'sentence_transformers.models.Normalize' },
  ],
  '1_Pooling/config.json': {
    word_embedding_dimension: 384,
    pooling_mode_cls_token: false,
    pooling_mode_mean_tokens: true,
    pooling_mode_max_tokens: false,
    pooling_mode_mean_sqrt_len_tokens: false,
  },
  'sentence_bert_config.json': { max_seq_length: 256, do_lower_case: false },
};

/** A cross-encoder of natural language inference. */
export const ENTAILMENT: RepositoryTable = {
  ...GRAPHS,
  ...TOKENIZER,
  'config.json': {
    architectures: ['DebertaV2ForSequenceClassification'],
    model_type: 'deberta-v2',
    max_position_embeddings: 512,
    id2label: { 0: 'entailment', 1: 'not_entailment' },
    label2id: { entailment: 0, not_entailment: 1 },
  },
};

export const RERANKER: RepositoryTable = {
  ...GRAPHS,
  ...TOKENIZER,
  'config.json': {
    architectures: ['XLMRobertaForSequenceClassification'],
    model_type: 'xlm-roberta',
    max_position_embeddings: 514,
    pad_token_id: 1,
    id2label: { 0: 'LABEL_0' },
  },
};

export const LAYA: RepositoryTable = {
  'onnx/model.onnx': 3_000_000,
  'onnx/model.onnx_data': 1_690_000_000,
  'tokenizer/tokenizer.json': {},
  'tokenizer/tokenizer_config.json': { cls_token: '[CLS]', sep_token: '[SEP]', mask_token: { content: '[MASK]' } },
  'rl_agent_config.json': {
    encoder: 'answerdotai/ModernBERT-large',
    max_len: 512,
    head_max_len: 192,
    temperature: [1.1, 1.2, 1.3],
    option_layout: 'sequential',
  },
};
