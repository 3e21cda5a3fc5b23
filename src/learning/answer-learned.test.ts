import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChoiceQuestion, Question } from '../domain/question.ts';
import { answerLearned, findLearned, type LearnedMatch } from './answer-learned.ts';
import { identify } from './frozen-rows.ts';
import type { Head, LearnedQuestion } from './learned-model.ts';

const NOTHING = { mean: Number.NaN, spread: Number.NaN };
const MEASURED = { accuracy: NOTHING, macroF1: NOTHING, ece: NOTHING, answeredAt5: NOTHING };

const choice = (...names: string[]): ChoiceQuestion => ({
  type: 'choice',
  instructions: 'Which?',
  options: names.map((name) => ({ name, description: null })),
});
const NOUL: Question = { type: 'noul', instructions: 'Is it?', whenFalse: null, whenTrue: null };
const SCORE: Question = { type: 'score', instructions: 'How much?', levels: ['low', 'middle', 'high'] };

/** @param head of its options in the order of the question */
function learn(question: Question, head: Partial<Head> = {}): LearnedQuestion {
  const { order, ...identity } = identify(question);
  const rows = question.type === 'choice' ? order.length : 1;
  const dimensions = head.centre?.length ?? 2;
  const given = head.weights ?? new Float32Array(rows * dimensions);
  const weights = new Float32Array(rows * dimensions);
  for (let row = 0; row < rows; row++) {
    const from = (rows > 1 ? (order[row] ?? 0) : 0) * dimensions;
    weights.set(given.subarray(from, from + dimensions), row * dimensions);
  }
  return {
    ...identity,
    head: {
      offset: 1,
      temperature: 1,
      newOption: 0,
      parts: [{ dimensions, isUnit: false }],
      centre: new Float32Array(dimensions),
      ...head,
      biases: Float64Array.from(order, (place) => head.biases?.[place] ?? 0),
      weights,
    },
    rows: identity.options.map(() => 8),
    figures: { zeroShot: MEASURED, learned: MEASURED },
  };
}

function match(learned: readonly LearnedQuestion[], question: Question): LearnedMatch {
  const found = findLearned(learned, question);
  if (found === undefined) throw new Error('The question was not found.');
  return found;
}

const answer = (learned: LearnedQuestion, question: Question, zeroShot: number[], vector: number[]): number[] =>
  answerLearned(match([learned], question), zeroShot, new Float32Array(vector));

const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 12));

function shares(logits: readonly number[]): number[] {
  const weights = logits.map(Math.exp);
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / total);
}

describe('a learned question', () => {
  const abc = learn(choice('a', 'b', 'c'));

  it('is found by what is asked, in any order of its options', () => {
    expect(match([learn(NOUL), abc], choice('c', 'a', 'b')).learned).toBe(abc);
    expect(match([abc, learn(SCORE)], SCORE).learned.type).toBe('score');
  });

  it('is not found in other words, nor with one option in common', () => {
    expect(findLearned([abc], { ...choice('a', 'b', 'c'), instructions: 'Which one?' })).toBeUndefined();
    expect(findLearned([abc], choice('a', 'x', 'y'))).toBeUndefined();
    expect(findLearned([learn(NOUL)], { ...NOUL, whenTrue: 'yes' })).toBeUndefined();
    expect(findLearned([learn(SCORE)], { ...SCORE, levels: ['low', 'high'] })).toBeUndefined();
    expect(findLearned([], NOUL)).toBeUndefined();
  });

  it('is found by most options in common; of several, the one with the fewest others', () => {
    const ab = learn(choice('a', 'b'));
    const abd = learn(choice('a', 'b', 'd'));
    expect(match([ab, abc, abd], choice('a', 'b', 'd', 'e')).learned).toBe(abd);
    expect(match([abc, ab], choice('a', 'b', 'x')).learned).toBe(ab);
    expect(match([ab, abc], choice('a', 'b', 'c')).learned).toBe(abc);
    expect(match([ab, abc], choice('a', 'b')).learned).toBe(ab);
  });
});

describe('an answer', () => {
  const vector = [0.5, -2];

  it('is the weighted zero-shot logits, biases and weights of each option, at the temperature', () => {
    const head = { offset: 0.5, temperature: 2, biases: Float64Array.of(0.1, 0.2, -0.3) };
    const learned = learn(choice('a', 'b', 'c'), { ...head, weights: Float32Array.of(1, 2, 3, 4, 5, 6) });
    const logits = [0.5 * Math.log(0.2) + 0.1 - 3.5, 0.5 * Math.log(0.5) + 0.2 - 6.5, 0.5 * Math.log(0.3) - 0.3 - 9.5];
    const expected = shares(logits.map((logit) => logit / 2));
    expect(answer(learned, choice('a', 'b', 'c'), [0.2, 0.5, 0.3], vector)).toEqual(near(expected));
  });

  it('of false or true moves their difference by the weights', () => {
    const learned = learn(NOUL, { weights: Float32Array.of(4, 0), biases: Float64Array.of(0, 0.25) });
    const expected = shares([Math.log(0.4), Math.log(0.6) + 0.25 + 2]);
    expect(answer(learned, NOUL, [0.4, 0.6], vector)).toEqual(near(expected));
  });

  it('of levels moves neighbours by the same step', () => {
    const learned = learn(SCORE, { weights: Float32Array.of(0, -1) });
    expect(answer(learned, SCORE, [0.5, 0.25, 0.25], vector)).toEqual(
      near(shares([Math.log(0.5) - 2, Math.log(0.25), Math.log(0.25) + 2])),
    );
  });

  it('reads the vector centred, and each part of it at length one', () => {
    const parts = [
      { dimensions: 2, isUnit: true },
      { dimensions: 1, isUnit: false },
    ];
    const head = { parts, centre: Float32Array.of(1, 1, 1), weights: Float32Array.of(1, 2, 3) };
    const logit = (3 / 5) * 1 + (4 / 5) * 2 + 7 * 3;
    expect(answer(learn(NOUL, head), NOUL, [0.5, 0.5], [4, 5, 8])).toEqual(near(shares([-logit / 2, logit / 2])));
    expect(answer(learn(NOUL, head), NOUL, [0.5, 0.5], [1, 1, 1])).toEqual([0.5, 0.5]);
    expect(() => answer(learn(NOUL, head), NOUL, [0.5, 0.5], [1, 1])).toThrow('2 dimensions was given to a head of 3');
  });

  it('scores an option without rows by the zero-shot part and what stands in for the rest', () => {
    const head = { offset: 0.5, newOption: 0.7, biases: Float64Array.of(1, 2), weights: Float32Array.of(1, 0, 0, 1) };
    const learned = learn(choice('a', 'b'), head);
    const logits = [0.5 * Math.log(0.2) + 1.5, 0.5 * Math.log(0.3), 0.5 * Math.log(0.5) + 0.7];
    expect(answer(learned, choice('a', 'b', 'new'), [0.2, 0.3, 0.5], vector)).toEqual(near(shares(logits)));
  });

  it('is among those options that are asked for', () => {
    const head = { biases: Float64Array.of(1, 5, 2), weights: Float32Array.of(1, 0, 9, 9, 0, 1) };
    const learned = learn(choice('a', 'b', 'c'), head);
    const expected = shares([Math.log(0.5) + 1.5, Math.log(0.5)]);
    expect(answer(learned, choice('a', 'c'), [0.5, 0.5], vector)).toEqual(near(expected));
  });

  it('stays finite where the base is certain', () => {
    const probabilities = answer(learn(choice('a', 'b')), choice('a', 'b'), [1, 0], vector);
    expect(probabilities[1]).toBeGreaterThan(0);
  });

  it('is the same to the bit in any order of the options', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const value = fc.double({ min: -3, max: 3, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 15, maxLength: 15 }),
        fc.shuffledSubarray([...names, 'new'], { minLength: 6 }),
        (values, order) => {
          const head = { biases: Float64Array.from(values.slice(0, 5)), weights: Float32Array.from(values.slice(5)) };
          const learned = learn(choice(...names), head);
          const prior = new Map([...names, 'new'].map((name, at) => [name, (at + 1) / 21]));
          const inOrder = answer(learned, choice(...prior.keys()), [...prior.values()], vector);
          const shuffled = answer(
            learned,
            choice(...order),
            order.map((name) => prior.get(name) ?? 0),
            vector,
          );
          const byName = new Map(order.map((name, at) => [name, shuffled[at]]));
          expect([...prior.keys()].map((name) => byName.get(name))).toEqual(inOrder);
        },
      ),
    );
  });
});
