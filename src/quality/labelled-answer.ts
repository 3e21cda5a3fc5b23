// One answer of a model beside what was right, as everything in this folder takes it. Pure.

import { argmax } from '../domain/answer.ts';
import type { QuestionType } from '../domain/question.ts';
import { softmax, type Temperatures, temperatureOf } from '../domain/temperature.ts';

export interface LabelledAnswer {
  /** What figures are grouped by: a task of a collection, a question of a file. */
  readonly task: string;
  /** Row the question came from; its questions stay together when rows are divided. */
  readonly row: number;
  readonly type: QuestionType;
  /** `[options]`, in the order of the request (noul: false, true), but for a number added to all. */
  readonly logits: readonly number[];
  /** `[options]`: the share of each option, summing to 1; one right answer is a 1 among zeros. */
  readonly target: readonly number[];
  /** `[options]`: option names; of a score its levels' numbers. */
  readonly names: readonly string[];
  /** Of the document. */
  readonly stateTokens: number;
}

/** Place of the right option: the largest share, the first of equals. */
export function goldOf({ target }: LabelledAnswer): number {
  return argmax(target);
}

/** @param temperatures without any: 1 */
export function probabilitiesOf({ type, logits }: LabelledAnswer, temperatures: Temperatures = {}): number[] {
  return softmax(logits, temperatureOf(temperatures, type, logits.length));
}

/** Below this a probability is 0 in float64; the wire says the probability of true alone, hence the coarser one of false. */
const SMALLEST_PROBABILITY = Number.MIN_VALUE;
const SMALLEST_COMPLEMENT = 2 ** -54;

/**
 * Logits out of probabilities: temperature × log p. They differ from the model's own by the same number for every
 * option, which no softmax sees. A probability that has become 0 counts as the smallest there is.
 * @param probabilities `[options]`; noul: false, true, where false is 1 − true
 */
export function toLogits(probabilities: readonly number[], type: QuestionType, temperature: number): number[] {
  const smallest = type === 'noul' ? SMALLEST_COMPLEMENT : SMALLEST_PROBABILITY;
  return probabilities.map((probability) => temperature * Math.log(Math.max(probability, smallest)));
}
