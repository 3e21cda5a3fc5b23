import { describe, expect, it } from 'vitest';
import { findDecisionFault, findEmbeddingFault, toQuestion } from './golden.ts';

describe('golden decisions', () => {
  it('may shift a little when quantized', () => {
    expect(findDecisionFault([0.6, 0.4], [0.64, 0.36], 'int8')).toBeUndefined();
    expect(findDecisionFault([0.6, 0.4], [0.66, 0.34], 'int8')).toContain('off by');
  });

  it('may hardly shift in full precision', () => {
    expect(findDecisionFault([0.6, 0.4], [0.6005, 0.3995], 'fp32')).toBeUndefined();
    expect(findDecisionFault([0.6, 0.4], [0.602, 0.398], 'fp32')).toContain('0.001');
  });

  it('may change a choice only where it was close', () => {
    expect(findDecisionFault([0.51, 0.49], [0.49, 0.51], 'int8')).toBeUndefined();
    expect(findDecisionFault([0.56, 0.44], [0.49, 0.51], 'int8')).toContain('off by 0.0700');
  });

  it('are never NaN and never of another length', () => {
    expect(findDecisionFault([0.5, 0.5], [Number.NaN, 0.5], 'int8')).toContain('off by');
    expect(findDecisionFault([0.5, 0.5], [1], 'int8')).toContain('1 probabilities where 2 were due');
  });
});

describe('golden embeddings', () => {
  it('are compared by cosine', () => {
    expect(findEmbeddingFault([1, 0], Float32Array.of(0.99, 0.1), 'int8')).toBeUndefined();
    expect(findEmbeddingFault([1, 0], Float32Array.of(0.99, 0.1), 'fp32')).toContain('cosine');
    expect(findEmbeddingFault([1, 0], Float32Array.of(0, 0), 'int8')).toContain('cosine');
  });
});

it('reads the questions of golden.json', () => {
  expect(toQuestion({ type: 'choice', instructions: 'q', options: [['a', null]] })).toEqual({
    type: 'choice',
    instructions: 'q',
    options: [{ name: 'a', description: null }],
  });
  expect(toQuestion({ type: 'noul', instructions: 'q', true: 'yes' })).toEqual({
    type: 'noul',
    instructions: 'q',
    whenFalse: null,
    whenTrue: 'yes',
  });
});
