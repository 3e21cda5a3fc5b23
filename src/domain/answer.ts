// Answers and the numbers derived from probabilities: confidence and score. Pure; sources are the protocol's formulas.

import type { Question } from './question.ts';

export interface ChoiceAnswer {
  readonly type: 'choice';
  readonly choice: string;
  /** In the order of the request's options; sums to 1 within 1e-6. */
  readonly probabilities: readonly { readonly name: string; readonly probability: number }[];
  /** 0 (uniform) to 1 (certain). */
  readonly confidence: number;
}

export interface ScoreAnswer {
  readonly type: 'score';
  /** Σ i·p_i, from 0 to levels − 1. */
  readonly score: number;
  readonly levels: readonly string[];
  readonly probabilities: readonly number[];
  readonly confidence: number;
}

export interface NoulAnswer {
  readonly type: 'noul';
  /** Probability of true. */
  readonly noul: number;
}

export type Answer = ChoiceAnswer | ScoreAnswer | NoulAnswer;

/** @returns `[options]`, in the order of the question; noul: false, true */
export function probabilitiesInOrder(answer: Answer): readonly number[] {
  switch (answer.type) {
    case 'choice':
      return answer.probabilities.map(({ probability }) => probability);
    case 'score':
      return answer.probabilities;
    case 'noul':
      return [1 - answer.noul, answer.noul];
  }
}

/** Index of the largest value, the first of equals. @param values `[n]`, n ≥ 1 */
export function argmax(values: readonly number[]): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
    if ((values[i] ?? Number.NEGATIVE_INFINITY) > (values[best] ?? Number.NEGATIVE_INFINITY)) best = i;
  }
  return best;
}

/** (max p − 1/K) / (1 − 1/K), and 1 for a single option. @param probabilities `[options]`, sums to 1 */
export function choiceConfidence(probabilities: readonly number[]): number {
  const count = probabilities.length;
  if (count === 1) return 1;
  const top = probabilities[argmax(probabilities)] ?? 0;
  return Math.max(0, (top - 1 / count) / (1 - 1 / count));
}

/**
 * 1 − Σ p_i·|i − m| / U, at least 0, with m the most probable level and U the mean distance of all levels from the
 * middle of the scale. @param probabilities `[levels]`, 2 to 10, sums to 1
 */
export function scoreConfidence(probabilities: readonly number[]): number {
  const count = probabilities.length;
  const mode = argmax(probabilities);
  let spread = 0;
  let uniform = 0;
  for (let i = 0; i < count; i++) {
    spread += (probabilities[i] ?? 0) * Math.abs(i - mode);
    uniform += Math.abs(i - (count - 1) / 2) / count;
  }
  return Math.max(0, 1 - spread / uniform);
}

/** Σ i·p_i. @param probabilities `[levels]` */
export function expectedScore(probabilities: readonly number[]): number {
  return probabilities.reduce((sum, probability, level) => sum + level * probability, 0);
}

/** An answer in the protocol's terms. @param probabilities `[options]`, in the order of the question; noul: false, true */
export function toAnswer(question: Question, probabilities: readonly number[]): Answer {
  switch (question.type) {
    case 'choice':
      return {
        type: 'choice',
        choice: question.options[argmax(probabilities)]?.name ?? '',
        probabilities: question.options.map(({ name }, place) => ({ name, probability: probabilities[place] ?? 0 })),
        confidence: choiceConfidence(probabilities),
      };
    case 'score':
      return {
        type: 'score',
        score: expectedScore(probabilities),
        levels: question.levels,
        probabilities,
        confidence: scoreConfidence(probabilities),
      };
    case 'noul':
      return { type: 'noul', noul: probabilities[1] ?? 0 };
  }
}
