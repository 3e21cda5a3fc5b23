import { describe, expect, it } from 'vitest';
import {
  EMBEDDER,
  ENTAILMENT,
  LAYA,
  RERANKER,
  type RepositoryTable,
  repository,
} from '../../test/recipe/repository-double.ts';
import { type RecipeChoices, readRecipe } from './recipe.ts';

const read = (table: RepositoryTable, choices: RecipeChoices = {}) => readRecipe(repository(table), choices);

function withConfig(table: RepositoryTable, members: object): RepositoryTable {
  return { ...table, 'config.json': { ...(table['config.json'] as object), ...members } };
}

async function factsOf(table: RepositoryTable, choices: RecipeChoices = {}): Promise<Record<string, string>> {
  const { facts } = await read(table, choices);
  return Object.fromEntries(facts.map(({ what, value, from }) => [what, `${value} (${from})`]));
}

describe('the family of a repository', () => {
  it('may be said by the operator', async () => {
    expect((await read({ ...EMBEDDER, ...LAYA }, { kind: 'text-encoder' })).kind).toBe('text-encoder');
    expect((await read({ ...EMBEDDER, ...LAYA })).kind).toBe('marker-encoder');
  });
});

describe('a repository of an embedder', () => {
  it('says its family, its graphs and its limit, each with the file that says so', async () => {
    expect(await factsOf(EMBEDDER)).toEqual({
      family: 'text-encoder (modules.json)',
      'graph fp32': 'onnx/model.onnx (listing)',
      'graph int8': 'onnx/model_quantized.onnx (listing)',
      'tokens of a row': '256 (sentence_bert_config.json: max_seq_length)',
    });
  });

  it('says its prompts and which one is the default', async () => {
    const prompts = { query: 'query: ', document: 'passage: ' };
    const table = {
      ...EMBEDDER,
      'config_sentence_transformers.json': { prompts, default_prompt_name: 'query' },
    };
    expect(await factsOf(table)).toMatchObject({
      'prompt query (default)': '"query: " (config_sentence_transformers.json: prompts, default_prompt_name)',
      'prompt document': '"passage: " (config_sentence_transformers.json: prompts, default_prompt_name)',
    });
  });

  it('may be a decoder, where sentence-transformers made it', async () => {
    const table = withConfig(EMBEDDER, { architectures: ['Qwen3ForCausalLM'] });
    expect((await read(table)).kind).toBe('text-encoder');
  });

  it('may lack modules.json, where the class in config.json gives vectors', async () => {
    const { 'modules.json': _, '1_Pooling/config.json': __, ...bare } = EMBEDDER;
    expect(await factsOf(bare)).toMatchObject({ family: 'text-encoder (config.json: architectures)' });
  });

  it.each([
    [
      'a default prompt that is none',
      { prompts: { query: '' }, default_prompt_name: 'x' },
      /names none of the prompts/,
    ],
    ['prompts that are no texts', { prompts: { query: 3 } }, /a prompt is no text/],
  ])('is refused for %s', async (_, config, message) => {
    await expect(read({ ...EMBEDDER, 'config_sentence_transformers.json': config })).rejects.toThrow(message);
  });

  it('is refused where texts are lowered by nobody', async () => {
    const table = { ...EMBEDDER, 'sentence_bert_config.json': { max_seq_length: 256, do_lower_case: true } };
    await expect(read(table)).rejects.toThrow('do_lower_case');
    const lowering = { ...table, 'tokenizer.json': { normalizer: { type: 'BertNormalizer', lowercase: true } } };
    expect((await read(lowering)).kind).toBe('text-encoder');
  });
});

describe('a repository of a model of entailment', () => {
  const template = { hypothesis: 'This text is about {option}.' };

  it('says where its labels are, in any order and case', async () => {
    const labels = ['entailment', 'neutral', 'contradiction'];
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    for (const order of orders) {
      const names = order.map((place) => labels[place] ?? '');
      const id2label = Object.fromEntries(names.map((name, place) => [place, name.toUpperCase()]));
      const label2id = Object.fromEntries(names.map((name, place) => [name, place]));
      for (const told of [
        { id2label, label2id: undefined },
        { id2label: undefined, label2id },
      ]) {
        const recipe = await read(withConfig(ENTAILMENT, told), template);
        expect(recipe).toMatchObject({
          kind: 'entailment',
          labels: { count: 3, entailment: order.indexOf(0), contradiction: order.indexOf(2) },
        });
      }
    }
  });

  it('takes what is not entailment as its contrary, where there are two', async () => {
    expect(await factsOf(ENTAILMENT, template)).toMatchObject({
      family: 'entailment (config.json: id2label)',
      entailment: 'logit 0 of 2 (config.json: id2label)',
      contradiction: 'logit 1 of 2 (config.json: id2label)',
      statement: '"This text is about {option}." (--template)',
    });
  });

  it('takes the statement that a file names', async () => {
    const tasks = { 'zero-shot-classification': { hypothesis_template: 'Dies ist {}.' } };
    expect(await factsOf(withConfig(ENTAILMENT, { task_specific_params: tasks }))).toMatchObject({
      statement:
        '"Dies ist {option}." (config.json: task_specific_params.zero-shot-classification.hypothesis_template)',
    });
  });

  it('asks for the statement where no file names it, with some that are used', async () => {
    await expect(read(ENTAILMENT)).rejects.toThrow("--template 'This text is about {option}.'");
    await expect(read(ENTAILMENT, { hypothesis: 'always' })).rejects.toThrow('must hold {option}');
  });

  it('asks which logit is which where no label tells', async () => {
    const silent = withConfig(ENTAILMENT, { id2label: { 0: 'LABEL_0', 1: 'LABEL_1', 2: 'LABEL_2' }, label2id: {} });
    await expect(read(silent, template)).rejects.toThrow('--entailment-index');
    await expect(read(silent, { ...template, entailment: 2 })).rejects.toThrow('--contradiction-index');
    expect(await read(silent, { ...template, entailment: 2, contradiction: 0 })).toMatchObject({
      labels: { count: 3, entailment: 2, contradiction: 0 },
    });
    await expect(read(silent, { ...template, entailment: 3, contradiction: 0 })).rejects.toThrow('places 0 to 2');
  });

  it('asks which logit is which where the files say two things', async () => {
    const id2label = { 0: 'contradiction', 1: 'neutral', 2: 'entailment' };
    const label2id = { Entailment: 0, neutral: 1, contradiction: 2 };
    const torn = withConfig(ENTAILMENT, { id2label, label2id });
    await expect(read(torn, template)).rejects.toThrow(
      'entailment at several places (2 and 0): add --entailment-index',
    );
    await expect(read(torn, { ...template, entailment: 0 })).rejects.toThrow('add --contradiction-index');
    expect(await read(torn, { ...template, entailment: 0, contradiction: 2 })).toMatchObject({
      labels: { entailment: 0, contradiction: 2 },
    });
    const twice = withConfig(ENTAILMENT, { id2label: { 0: 'entailment', 1: 'entailment' }, label2id: {} });
    await expect(read(twice, template)).rejects.toThrow('entailment at several places (0 and 1)');
    const unnamed = withConfig(ENTAILMENT, { id2label, label2id: { LABEL_0: 0, LABEL_1: 1, LABEL_2: 2 } });
    expect(await read(unnamed, template)).toMatchObject({ labels: { entailment: 2, contradiction: 0 } });
  });

  it('is refused with other numbers of labels', async () => {
    const five = { id2label: { 0: 'entailment', 1: 'b', 2: 'c', 3: 'd', 4: 'e' } };
    await expect(read(withConfig(ENTAILMENT, five), template)).rejects.toThrow('two or three labels');
  });
});

describe('a repository of a reranker', () => {
  it('is one of a classifier with one label', async () => {
    expect(await factsOf(RERANKER)).toMatchObject({
      family: 'reranker (config.json: architectures, one label)',
      'tokens of a row': '512 (config.json: max_position_embeddings less 2 (padding))',
    });
  });
});

describe('a Laya package', () => {
  it('says its limits, its marker and the weights beside its graph', async () => {
    const recipe = await read(LAYA);
    expect(recipe).toMatchObject({
      kind: 'marker-encoder',
      statedTokens: 512,
      tokenizerFiles: ['tokenizer/tokenizer.json', 'tokenizer/tokenizer_config.json'],
      marker: { questionTokens: 192, specialTokens: { cls: '[CLS]', sep: '[SEP]', mask: '[MASK]' } },
    });
    expect(recipe.graphs).toEqual([
      { precision: 'fp32', path: 'onnx/model.onnx', data: ['onnx/model.onnx_data'], bytes: 1_693_000_000 },
    ]);
  });

  it('may lie in a folder of the repository, which is named', async () => {
    const inFolder = Object.fromEntries(Object.entries(LAYA).map(([path, content]) => [`english/${path}`, content]));
    await expect(read(inFolder)).rejects.toThrow('--subfolder english');
    const recipe = await read(inFolder, { subfolder: 'english' });
    expect(recipe.graphs[0]?.data).toEqual(['english/onnx/model.onnx_data']);
    expect(recipe.tokenizerFiles[0]).toBe('english/tokenizer/tokenizer.json');
    await expect(read(inFolder, { subfolder: 'french' })).rejects.toThrow('no folder french');
  });

  it.each([
    ['a layout that no export has', { option_layout: 'parallel' }, /option_layout parallel/],
    ['no limit', { max_len: undefined }, /max_len is no whole number/],
  ])('is refused for %s', async (_, members, message) => {
    const table = { ...LAYA, 'rl_agent_config.json': { ...(LAYA['rl_agent_config.json'] as object), ...members } };
    await expect(read(table)).rejects.toThrow(message);
  });

  it('is refused without the tokens that a row is made with', async () => {
    const table = { ...LAYA, 'tokenizer/tokenizer_config.json': { cls_token: '[CLS]', sep_token: '[SEP]' } };
    await expect(read(table)).rejects.toThrow('names no mask_token');
  });
});

describe('the limit of a row', () => {
  const limits = {
    'config.json': { max_position_embeddings: 8192, n_positions: 4096, max_trained_positions: 2048 },
    'sentence_bert_config.json': { max_seq_length: 1024 },
    'tokenizer_config.json': { model_max_length: 512 },
  };

  it('is the least of five that files may state', async () => {
    let rest: RepositoryTable = {
      ...EMBEDDER,
      ...limits,
      'config.json': { ...limits['config.json'], architectures: ['BertModel'] },
    };
    const least = async () => (await read(rest)).statedTokens;
    expect(await least()).toBe(512);
    rest = { ...rest, 'tokenizer_config.json': { model_max_length: 1e30 } };
    expect(await least()).toBe(1024);
    rest = { ...rest, 'sentence_bert_config.json': { max_seq_length: null } };
    expect(await least()).toBe(2048);
    rest = withConfig(rest, { max_trained_positions: undefined });
    expect(await least()).toBe(4096);
    rest = withConfig(rest, { n_positions: undefined });
    expect(await least()).toBe(8192);
  });

  it('ignores how a tokenizer would cut and pad', async () => {
    const table = { ...EMBEDDER, 'tokenizer.json': { truncation: { max_length: 16 }, padding: {} } };
    expect((await read(table)).statedTokens).toBe(256);
  });

  it('is asked for where no file states it, and may be made less', async () => {
    const silent = { ...withConfig(RERANKER, { max_position_embeddings: undefined }), 'tokenizer_config.json': {} };
    await expect(read(silent)).rejects.toThrow('--max-tokens');
    expect((await read(silent, { maxTokens: 128 })).statedTokens).toBe(128);
    expect((await read(RERANKER, { maxTokens: 128 })).statedTokens).toBe(128);
    await expect(read(RERANKER, { maxTokens: 1024 })).rejects.toThrow('more than the model reads: 512');
  });
});

describe('a repository of something else', () => {
  it.each([
    ['GLiClass', { architectures: ['GLiClassModel'] }, /a GLiClass model/],
    ['ColBERT', { architectures: ['HF_ColBERT'] }, /ColBERT/],
    ['SPLADE', { architectures: ['BertForMaskedLM'] }, /sparse/],
    ['a decoder', { architectures: ['LlamaForCausalLM'] }, /generates text.*--pooling last/],
    ['CLIP', { architectures: ['CLIPModel'], model_type: 'clip' }, /images/],
    [
      'jina-embeddings-v3',
      { architectures: ['XLMRobertaLoRA'], lora_adaptations: ['retrieval.query'] },
      /jina-embeddings-v3/,
    ],
    ['a tagger', { architectures: ['BertForTokenClassification'] }, /labels tokens/],
    ['nothing that is known', { architectures: ['FooForBar'] }, /FooForBar.*--family/],
    ['nothing that is named', { architectures: undefined }, /names no architecture/],
  ])('is refused by name: %s', async (_, members, message) => {
    const { 'modules.json': __, '1_Pooling/config.json': ___, ...bare } = EMBEDDER;
    await expect(read(withConfig(bare, members))).rejects.toThrow(message);
  });

  it.each(['SpladePooling', 'StaticEmbedding', 'CLIPModel', 'Router'])(
    'is refused by its modules: %s',
    async (step) => {
      const modules = [{ idx: 0, name: '0', path: '', type: `sentence_transformers.sparse_encoder.models.${step}` }];
      await expect(read({ ...EMBEDDER, 'modules.json': modules })).rejects.toThrow(`modules.json: ${step}`);
    },
  );

  it('is refused: a package of von', async () => {
    const { 'modules.json': _, '1_Pooling/config.json': __, ...bare } = EMBEDDER;
    await expect(read({ ...bare, 'model.json': {}, SHA256SUMS: 100 })).rejects.toThrow('another program');
  });

  it('is refused without a tokenizer.json', async () => {
    const { 'tokenizer.json': _, ...bare } = EMBEDDER;
    await expect(read({ ...bare, 'spiece.model': 800 })).rejects.toThrow('spiece.model alone cannot be read');
  });

  it('is refused where a file is no JSON', async () => {
    await expect(read({ ...EMBEDDER, 'config.json': '{"a": ' })).rejects.toThrow('config.json is no valid JSON');
    await expect(read({ ...EMBEDDER, 'config.json': [] })).rejects.toThrow('holds no JSON object');
  });
});
