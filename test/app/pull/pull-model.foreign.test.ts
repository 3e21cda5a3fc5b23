// Models of every common architecture, put back into repositories as their publishers write them: what a pull makes of
// each is the manifest that was written by hand beside its reference answers.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { createModelSources } from '../../../src/app/pull/pulled-models.ts';
import { loadConfig, readHubSettings } from '../../../src/config/load.ts';
import type { RecipeChoices } from '../../../src/recipe/recipe.ts';
import { json, type RepositoryContent, writeRepository } from './tiny-repository.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures', 'foreign');
const root = mkdtempSync(join(tmpdir(), 'umpire-foreign-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const read = (name: string, file: string): Buffer => gunzipSync(readFileSync(join(FIXTURES, name, `${file}.gz`)));

interface HandWritten {
  readonly limits: Readonly<Record<string, number>>;
  readonly prompts?: Readonly<Record<string, string>>;
  readonly default_prompt?: string;
  readonly labels?: { readonly count: number; readonly entailment: number; readonly contradiction: number };
  readonly hypothesis?: string;
}

function handWritten(name: string): HandWritten {
  return JSON.parse(readFileSync(join(FIXTURES, name, 'model.json'), 'utf8')) as HandWritten;
}

/** What the graph and the tokenizer do not say: the files around them. */
type Surroundings = (manifest: HandWritten) => RepositoryContent;

const embedder =
  (architecture: string, pooling?: object): Surroundings =>
  ({ limits, prompts = {}, default_prompt: name = null }) => ({
    'config.json': json({ architectures: [architecture], max_position_embeddings: 40_960 }),
    'modules.json': json(
      ['Transformer', 'Pooling'].map((type, idx) => ({
        idx,
        path: idx === 0 ? '' : '1_Pooling',
        type: `sentence_transformers.models.${type}`,
      })),
    ),
    'sentence_bert_config.json': json({ max_seq_length: limits['input_tokens'] }),
    'config_sentence_transformers.json': json({ prompts, default_prompt_name: name }),
    ...(pooling !== undefined && { '1_Pooling/config.json': json(pooling) }),
  });

const classifier =
  (architecture: string): Surroundings =>
  ({ limits, labels }) => {
    const names = Array.from({ length: labels?.count ?? 1 }, (_, place) => {
      if (labels === undefined) return 'LABEL_0';
      if (place === labels.entailment) return 'entailment';
      return place === labels.contradiction ? (labels.count === 2 ? 'not_entailment' : 'contradiction') : 'neutral';
    });
    return {
      'config.json': json({
        architectures: [architecture],
        id2label: Object.fromEntries(names.map((label, place) => [place, label])),
      }),
      'tokenizer_config.json': json({ model_max_length: limits['pair_tokens'] }),
    };
  };

const laya: Surroundings = ({ limits }) => ({
  'rl_agent_config.json': json({
    max_len: limits['row_tokens'],
    head_max_len: limits['question_tokens'],
    option_layout: 'sequential',
  }),
  'tokenizer_config.json': json({ cls_token: '[CLS]', sep_token: '[SEP]', mask_token: '[MASK]' }),
});

const MODELS: readonly (readonly [string, Surroundings])[] = [
  ['bert-mean', embedder('BertModel', { pooling_mode_mean_tokens: true, include_prompt: false })],
  ['xlm-r-cls', embedder('XLMRobertaModel', { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false })],
  ['gte-cls', embedder('NewModel', { pooling_mode: 'cls' })],
  ['mpnet-mean', embedder('MPNetModel', { pooling_mode: 'mean' })],
  ['modernbert-mean', embedder('ModernBertModel', { pooling_mode: 'mean' })],
  ['nomic-mean', embedder('NomicBertModel', { pooling_mode: ['mean'] })],
  ['qwen3-last', embedder('Qwen3ForCausalLM', { pooling_mode_lasttoken: true })],
  ['gemma3-graph', embedder('Gemma3TextModel')],
  ['deberta-nli', classifier('DebertaV2ForSequenceClassification')],
  ['modernbert-nli', classifier('ModernBertForSequenceClassification')],
  ['bart-nli', classifier('BartForSequenceClassification')],
  ['bert-reranker', classifier('BertForSequenceClassification')],
  ['xlm-r-reranker', classifier('XLMRobertaForSequenceClassification')],
  ['laya', laya],
];
/** What a folder says besides, of itself or of its maker. */
const OWN = [
  'format',
  'id',
  'description',
  'release_date',
  'owned_by',
  'licence',
  'price',
  'source',
  'temperatures',
  'calibrated',
];

it.each(MODELS)('%s', async (name, surroundings) => {
  const written = handWritten(name);
  const folder = join(root, name);
  writeRepository(folder, {
    'onnx/model.onnx': read(name, 'model.onnx'),
    'tokenizer.json': read(name, 'tokenizer.json'),
    'README.md': '---\nlicense: mit\n---\n',
    ...surroundings(written),
  });
  const { config } = loadConfig({ flags: {}, env: { UMPIRE_DATA_DIR: join(root, 'data') } });
  const sources = createModelSources({ config, hub: readHubSettings({}), now: new Date(), rowBytes: 1e9 });
  const choices: RecipeChoices = { hypothesis: written.hypothesis };
  const request = { source: folder, id: name, choices, isFromCache: false, acceptsLicence: false, isAnew: false };
  const watcher = { signal: new AbortController().signal, tell: () => undefined };
  const { model } = await sources.pull(request, watcher);
  const made = JSON.parse(readFileSync(join(model.folder, 'model.json'), 'utf8')) as object;
  expect(made).toMatchObject(Object.fromEntries(Object.entries(written).filter(([member]) => !OWN.includes(member))));
});
