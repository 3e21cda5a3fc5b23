import { describe, expect, it } from 'vitest';
import type { Question } from '../../../domain/question.ts';
import { entailmentProbabilities } from './pair-readout.ts';

const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;
const temperatures = { choice: { '2': 1, '3-5': 2, '6-10': 1, '11+': 1 }, noul: { '2': 4 }, score: { '2': 1 } };
const labels = { count: 3, entailment: 0, contradiction: 2 };
const optionQuestion = (count: number): Question => ({
  type: 'choice',
  instructions: '',
  options: Array.from({ length: count }, (_, i) => ({ name: `${i}`, description: null })),
});
const noul: Question = { type: 'noul', instructions: '', whenFalse: null, whenTrue: null };
const softmaxOf = (values: readonly number[]): number[] => {
  const weights = values.map(Math.exp);
  return weights.map((weight) => weight / weights.reduce((a, b) => a + b));
};

describe('probabilities of an entailment model', () => {
  it('of a choice are the softmax of entailment, at the temperature of its number of options', () => {
    const answer = entailmentProbabilities(
      optionQuestion(3),
      [
        [2, 9, 9],
        [1, -9, 0],
        [-4, 0, 7],
      ],
      { labels, temperatures },
    );
    const expected = softmaxOf([1, 0.5, -2]);
    for (const [place, probability] of answer.entries()) expect(probability).toBeCloseTo(expected[place] ?? 0, 12);
  });

  it('of one option are 1', () => {
    expect(entailmentProbabilities(optionQuestion(1), [[-30, 30, 30]], { labels, temperatures })).toEqual([1]);
  });

  it('of a noul with one hypothesis weigh contradiction against entailment', () => {
    const [isFalse, isTrue] = entailmentProbabilities(noul, [[4, 100, -4]], { labels, temperatures });
    expect(isTrue).toBeCloseTo(1 / (1 + Math.exp(-2)), 12);
    expect(isFalse).toBeCloseTo(1 / (1 + Math.exp(2)), 12);
  });

  it('of a noul with two hypotheses weigh the entailment of both: false, true', () => {
    const [isFalse, isTrue] = entailmentProbabilities(
      noul,
      [
        [4, 0, 9],
        [-4, 0, 9],
      ],
      { labels, temperatures },
    );
    expect(isFalse).toBeCloseTo(1 / (1 + Math.exp(-2)), 12);
    expect(isTrue).toBeCloseTo(1 / (1 + Math.exp(2)), 12);
  });

  it.each(ORDERS)('read the labels where they are: %i %i %i', (entailment, contradiction, neutral) => {
    const row = (e: number, c: number, n: number): number[] => {
      const logits = [0, 0, 0];
      [logits[entailment], logits[contradiction], logits[neutral]] = [e, c, n];
      return logits;
    };
    const placed = { labels: { count: 3, entailment, contradiction }, temperatures };
    const [rows, usual] = [
      [row(1, 5, 3), row(2, 0, 4)],
      [
        [1, 3, 5],
        [2, 4, 0],
      ],
    ];
    expect(entailmentProbabilities(optionQuestion(2), rows, placed)).toEqual(
      entailmentProbabilities(optionQuestion(2), usual, { labels, temperatures }),
    );
    expect(entailmentProbabilities(noul, rows.slice(1), placed)).toEqual(
      entailmentProbabilities(noul, usual.slice(1), { labels, temperatures }),
    );
  });

  it('are the same to the bit in whatever order the options come', () => {
    const scores = Array.from({ length: 11 }, (_, i) => Math.sin(37 * i) * 3);
    const order = [3, 0, 10, 7, 1, 9, 2, 8, 4, 6, 5];
    const read = (values: readonly number[]) =>
      entailmentProbabilities(
        optionQuestion(11),
        values.map((value) => [value, 0, 0]),
        { labels, temperatures },
      );
    const straight = read(scores);
    expect(read(order.map((place) => scores[place] ?? 0))).toEqual(order.map((place) => straight[place]));
  });

  it('are refused where a logit is missing', () => {
    expect(() => entailmentProbabilities(noul, [[1, 2]], { labels, temperatures })).toThrow(
      '2 logits where 3 were due',
    );
  });
});
