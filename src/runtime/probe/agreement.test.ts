import { describe, expect, it } from 'vitest';
import { compareAnswers, findBrokenNumber } from './agreement.ts';
import type { ProbeAnswer } from './probe-messages.ts';

const answers = (...values: (readonly number[])[]): ProbeAnswer[] =>
  values.map((value, place) => ({ place, inputTokens: 3, values: [value] }));

describe('vectors of two precisions', () => {
  it('agree while each points the same way', () => {
    const { figures, fault } = compareAnswers(answers([1, 0], [0, 1]), answers([1, 0.05], [0, 1]), 'vectors');
    expect(fault).toBeUndefined();
    expect(figures.rows).toBe(2);
    expect(figures.least_cosine).toBeCloseTo(0.99875, 4);
  });

  it('do not agree where one turns, or is no vector', () => {
    expect(compareAnswers(answers([1, 0]), answers([1, 0.2]), 'vectors').fault).toContain('cosine 0.98');
    expect(compareAnswers(answers([1, 0]), answers([0, 0]), 'vectors').fault).toContain('cosine -1');
    expect(compareAnswers(answers([1, 0], [1, 0]), answers([1, 0]), 'vectors').fault).toContain('cosine');
  });
});

describe('probabilities of two precisions', () => {
  it('agree within a small shift', () => {
    const { figures, fault } = compareAnswers(answers([0.6, 0.4]), answers([0.57, 0.43]), 'probabilities');
    expect(fault).toBeUndefined();
    expect(figures.largest_shift).toBeCloseTo(0.03);
  });

  it('may change places only where neither was clearly ahead', () => {
    expect(compareAnswers(answers([0.52, 0.48]), answers([0.48, 0.52]), 'probabilities').fault).toBeUndefined();
    const turned = compareAnswers(answers([0.6, 0.4]), answers([0.4, 0.6]), 'probabilities');
    expect(turned.fault).toBe('1 of 1 clear answers are others');
  });

  it('do not agree beyond it, nor where one is missing', () => {
    expect(compareAnswers(answers([0.9, 0.1]), answers([0.8, 0.2]), 'probabilities').fault).toContain('off by 0.1000');
    expect(compareAnswers(answers([0.54, 0.46]), answers([]), 'probabilities').fault).toContain('off by 1.0000');
  });
});

it('what is no number is found', () => {
  expect(findBrokenNumber(answers([1, 2]))).toBeUndefined();
  expect(findBrokenNumber(answers([1, Number.NaN], [1, 2]))).toContain('1 of 2 answers');
  expect(findBrokenNumber(answers([Number.POSITIVE_INFINITY]))).toContain('1 of 1 answers');
  expect(findBrokenNumber(answers([]))).toContain('1 of 1 answers');
});
