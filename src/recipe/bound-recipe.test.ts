import { describe, expect, it } from 'vitest';
import {
  EMBEDDER,
  ENTAILMENT,
  LAYA,
  RERANKER,
  type RepositoryTable,
  repository,
} from '../../test/recipe/repository-double.ts';
import type { GraphSignature, GraphValue } from '../runtime/graph-signature.ts';
import { bindRecipe, requireSameInputs } from './bound-recipe.ts';
import { type RecipeChoices, readRecipe } from './recipe.ts';

const int64 = (name: string): GraphValue => ({ name, type: 'int64', shape: ['batch', 'sequence'] });
const float32 = (name: string, ...shape: (number | string)[]): GraphValue => ({ name, type: 'float32', shape });
const ROW = [int64('input_ids'), int64('attention_mask'), int64('token_type_ids')];
const TOKENS = float32('last_hidden_state', 'batch', 'sequence', 384);
const WHOLE = float32('sentence_embedding', 'batch', 384);
const POOLER = float32('pooler_output', 'batch', 384);

async function bind(table: RepositoryTable, signature: Partial<GraphSignature>, choices: RecipeChoices = {}) {
  const recipe = await readRecipe(repository(table), choices);
  return bindRecipe(recipe, { inputs: ROW, outputs: [TOKENS], ...signature });
}

const pooled = (config: object): RepositoryTable => ({ ...EMBEDDER, '1_Pooling/config.json': config });
const BARE: RepositoryTable = Object.fromEntries(
  Object.entries(EMBEDDER).filter(([path]) => !['modules.json', '1_Pooling/config.json'].includes(path)),
);

describe('the pooling of an embedder', () => {
  const legacy = (mode: string) => ({
    pooling_mode_cls_token: false,
    pooling_mode_mean_tokens: false,
    [`pooling_mode_${mode}`]: true,
  });

  it.each([
    ['cls', legacy('cls_token')],
    ['mean', legacy('mean_tokens')],
    ['last', legacy('lasttoken')],
    ['cls', { embedding_dimension: 384, pooling_mode: 'cls' }],
    ['mean', { embedding_dimension: 384, pooling_mode: 'mean', include_prompt: true }],
    ['last', { embedding_dimension: 384, pooling_mode: 'lasttoken' }],
    ['mean', { pooling_mode: ['mean'] }],
  ])('is read from both generations of its file: %s', async (pooling, config) => {
    expect(await bind(pooled(config), {})).toMatchObject({
      pooling,
      io: { output: 'last_hidden_state' },
      dimensions: 384,
    });
  });

  it.each(['sentence_transformers.models', 'sentence_transformers.sentence_transformer.modules.pooling'])(
    'is found under any class path: %s',
    async (place) => {
      const modules = [
        { idx: 0, name: '0', path: '', type: `${place}.Transformer` },
        { idx: 1, name: '1', path: 'my_pooling', type: `${place}.Pooling` },
      ];
      const table = { ...BARE, 'modules.json': modules, 'my_pooling/config.json': { pooling_mode: 'cls' } };
      const { facts } = await bind(table, {});
      expect(facts).toContainEqual({ what: 'pooling', value: 'cls', from: 'my_pooling/config.json: pooling_mode' });
    },
  );

  it.each([
    ['two at once', { ...legacy('cls_token'), pooling_mode_mean_tokens: true }, /together make one longer vector/],
    ['two in a list', { pooling_mode: ['cls', 'mean'] }, /together make one longer vector/],
    ['one that is not supported', legacy('max_tokens'), /max_tokens is not supported/],
    ['none', legacy('nothing_of_it') && { pooling_mode_cls_token: false }, /names no pooling/],
  ])('is refused: %s', async (_, config, message) => {
    await expect(bind(pooled(config), {})).rejects.toThrow(message);
    // What the graph does itself needs no words.
    expect((await bind(pooled(config), { outputs: [TOKENS, WHOLE] })).pooling).toBe('graph');
  });

  it('is asked for where no file says it', async () => {
    await expect(bind(BARE, {})).rejects.toThrow('--pooling cls|mean|last');
    expect((await bind(BARE, {}, { pooling: 'last' })).pooling).toBe('last');
  });

  it('is the graph’s own where that gives the vector, never its pooler', async () => {
    expect(await bind(EMBEDDER, { outputs: [TOKENS, POOLER, WHOLE] })).toMatchObject({
      pooling: 'graph',
      io: { output: 'sentence_embedding' },
    });
    expect(await bind(EMBEDDER, { outputs: [POOLER, TOKENS] })).toMatchObject({ pooling: 'mean' });
    await expect(bind(EMBEDDER, { outputs: [POOLER] })).rejects.toThrow('neither sentence_embedding nor');
  });

  it('is done here where a prompt must not count, whatever the graph offers', async () => {
    const table = {
      ...pooled({ pooling_mode: 'mean', include_prompt: false }),
      'config_sentence_transformers.json': { prompts: { query: 'Find: ' } },
    };
    expect(await bind(table, { outputs: [WHOLE, TOKENS] })).toMatchObject({ pooling: 'mean' });
    await expect(bind(table, { outputs: [WHOLE] })).rejects.toThrow('neither');
  });

  it('is refused where a step after it is outside the graph', async () => {
    const modules = [...(EMBEDDER['modules.json'] as object[]), { path: '2_Dense', type: 'a.b.dense.Dense' }];
    const table = { ...EMBEDDER, 'modules.json': modules };
    await expect(bind(table, {})).rejects.toThrow('Dense comes after the graph');
    expect((await bind(table, { outputs: [WHOLE] })).pooling).toBe('graph');
  });
});

describe('the inputs of a graph', () => {
  it('are fed by their names, those alone that it has', async () => {
    expect((await bind(EMBEDDER, { inputs: ROW.slice(0, 2) })).io).toEqual({
      inputs: { ids: 'input_ids', mask: 'attention_mask' },
      output: 'last_hidden_state',
    });
  });

  it('may be positions, and keys and values of nothing', async () => {
    const past = ['key', 'value'].map((kind) => float32(`past_key_values.0.${kind}`, 'batch', 8, 'past', 128));
    const inputs = [...ROW.slice(0, 2), int64('position_ids'), ...past];
    expect((await bind(EMBEDDER, { inputs })).io?.inputs).toEqual({
      ids: 'input_ids',
      mask: 'attention_mask',
      positions: 'position_ids',
      past: [
        { name: 'past_key_values.0.key', heads: 8, head_size: 128 },
        { name: 'past_key_values.0.value', heads: 8, head_size: 128 },
      ],
    });
  });

  it.each([
    ['an unknown one', [...ROW, int64('langs')], /wants an input langs/],
    ['the task of jina-embeddings-v3', [...ROW, int64('task_id')], /jina-embeddings-v3/],
    ['a baked length', [{ ...int64('input_ids'), shape: ['batch', 512] }], /exported for 512 tokens alone/],
    ['a baked batch', [{ ...int64('input_ids'), shape: [8, 'sequence'] }], /always takes 8 rows/],
    ['32 bits', [{ ...int64('input_ids'), type: 'int32' }], /input_ids as int32/],
    ['half precision', [...ROW, { ...float32('past_key_values.0.key', 1, 8, 'p', 64), type: 'float16' }], /float16/],
    ['the wrong rank', [{ ...int64('input_ids'), shape: ['sequence'] }], /with 1 dimensions/],
    ['no ids', [int64('attention_mask')], /takes no input_ids/],
  ])('are refused: %s', async (_, inputs, message) => {
    await expect(bind(EMBEDDER, { inputs })).rejects.toThrow(message);
  });

  it('are the same for every precision', async () => {
    const whole = await bind(EMBEDDER, {});
    const other = await bind(EMBEDDER, { inputs: ROW.slice(0, 2) });
    expect(() => requireSameInputs(whole, whole, 'onnx/model_int8.onnx')).not.toThrow();
    expect(() => requireSameInputs(whole, other, 'onnx/model_int8.onnx')).toThrow(
      'onnx/model_int8.onnx takes or gives',
    );
  });
});

describe('the output of a graph', () => {
  it('is refused in half precision', async () => {
    await expect(bind(EMBEDDER, { outputs: [{ ...TOKENS, type: 'float16' }] })).rejects.toThrow('as float16');
  });

  it('has as many logits as there are labels', async () => {
    const template = { hypothesis: '{option}' };
    const logits = (count: number) => ({ outputs: [float32('logits', 'batch', count)] });
    expect((await bind(ENTAILMENT, logits(2), template)).io?.output).toBe('logits');
    await expect(bind(ENTAILMENT, logits(3), template)).rejects.toThrow('2 labels, and the graph gives 3');
    await expect(bind(RERANKER, logits(2))).rejects.toThrow('1 labels, and the graph gives 2');
    await expect(bind(RERANKER, {})).rejects.toThrow('no logits of a pair');
  });
});

describe('the graph of a Laya package', () => {
  const inputs = [
    ...ROW.slice(0, 2),
    { name: 'marker_pos', type: 'int64', shape: ['batch', 'options'] },
    { name: 'marker_mask', type: 'bool', shape: ['batch', 'options'] },
    { name: 'qtype', type: 'int64', shape: ['batch'] },
  ];
  const outputs = [float32('logits', 'batch', 'options'), float32('act_logits', 'batch', 2)];

  it('is taken with what that library writes', async () => {
    expect(await bind(LAYA, { inputs, outputs })).toMatchObject({ io: undefined, facts: [] });
  });

  it.each([
    ['an input is missing', inputs.slice(0, 4), /does not take qtype/],
    ['an input is another', [...inputs, int64('token_type_ids')], /token_type_ids/],
    ['the length is baked', [{ ...int64('input_ids'), shape: [1, 512] }, ...inputs.slice(1)], /512 tokens alone/],
  ])('is refused where %s', async (_, given, message) => {
    await expect(bind(LAYA, { inputs: given, outputs })).rejects.toThrow(message);
  });
});
