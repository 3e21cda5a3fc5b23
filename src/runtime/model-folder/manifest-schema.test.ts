import { describe, expect, it } from 'vitest';
import { parseManifest } from './manifest-schema.ts';

const common = {
  format: 2,
  id: 'some-model',
  description: 'a model',
  release_date: '2026-11-22',
  owned_by: 'somebody',
  licence: 'MIT',
  price: { input_micro_usd_per_million_tokens: 0, output_micro_usd_per_million_tokens: 0 },
  graph_io: { inputs: { ids: 'input_ids', mask: 'attention_mask' }, output: 'logits' },
};

const entailment = {
  ...common,
  type: 'decision',
  family: 'pair-scorer',
  graphs: { int8: { score: 'model_quantized.onnx' } },
  limits: { pair_tokens: 512 },
  labels: { count: 3, entailment: 1, contradiction: 0 },
  hypothesis: 'This example is {option}.',
  temperatures: { choice: {}, noul: {}, score: {} },
  calibrated: false,
};

const embedding = {
  ...common,
  type: 'embedding',
  family: 'text-encoder',
  graphs: { fp32: { embed: 'model.onnx' } },
  limits: { input_tokens: 512 },
  dimensions: 768,
  pooling: 'mean',
  prompts: { query: 'query: ' },
  include_prompt: true,
};

describe('a manifest of format 2', () => {
  it('is read as it stands', () => {
    for (const manifest of [entailment, embedding]) expect(parseManifest(manifest)).toEqual(manifest);
  });

  it('must have two different labels below their count', () => {
    const labels = { count: 2, entailment: 1, contradiction: 2 };
    expect(() => parseManifest({ ...entailment, labels })).toThrow('labels: entailment and contradiction must be');
    expect(() => parseManifest({ ...entailment, labels: { ...labels, contradiction: 1 } })).toThrow('two places');
  });

  it('must make a statement of the option', () => {
    const hypothesis = 'This is a text.';
    expect(() => parseManifest({ ...entailment, hypothesis })).toThrow('hypothesis: must have {option}');
  });

  it('names a default prompt that it has', () => {
    expect(() => parseManifest({ ...embedding, default_prompt: 'document' })).toThrow(
      'default_prompt: must be the name',
    );
  });

  it('is told what is wrong in the layout of its own family', () => {
    expect(() => parseManifest({ ...entailment, type: 'reranker' })).toThrow('labels');
    expect(() => parseManifest({ ...embedding, pooling: 'max' })).toThrow('pooling');
  });
});

it.each([3, '2', null, undefined])('a manifest of format %j is refused by that, and by nothing else', (format) => {
  const message = `format: ${JSON.stringify(format) ?? 'none'} is not known; this version reads 1 and 2`;
  expect(() => parseManifest({ ...embedding, format })).toThrow(new Error(message));
});

describe('a manifest of format 1', () => {
  it('has the inputs and the output of our own graphs', () => {
    const { graph_io, pooling, prompts, include_prompt, ...own } = embedding;
    expect(parseManifest({ ...own, format: 1 })).toMatchObject({
      pooling: 'graph',
      prompts: {},
      graph_io: { inputs: { ids: 'token_ids', mask: 'attention_mask' }, output: 'embeddings' },
    });
    expect(() => parseManifest({ ...embedding, format: 1 })).toThrow();
  });

  it('has no families of others', () => {
    expect(() => parseManifest({ ...entailment, format: 1 })).toThrow('family');
  });
});
