// Golden cases: their layout and what counts as agreement (models/README.md). Pure; load-model.ts runs them.

import type { Question } from '../../domain/question.ts';

type GoldenQuestion =
  | { readonly type: 'choice'; readonly instructions: string; readonly options: readonly [string, string | null][] }
  | { readonly type: 'score'; readonly instructions: string; readonly levels: readonly string[] }
  | {
      readonly type: 'noul';
      readonly instructions: string;
      readonly false?: string | null;
      readonly true?: string | null;
    };

export interface DecisionCase {
  readonly state: string;
  readonly questions: readonly GoldenQuestion[];
  readonly input_tokens: number;
  /** By precision: `[questions][options]`. */
  readonly probabilities: Readonly<Record<string, readonly (readonly number[])[]>>;
}

export interface EmbeddingCase {
  readonly input: string;
  readonly input_tokens: number;
  /** By precision. */
  readonly embeddings: Readonly<Record<string, readonly number[]>>;
}

export interface RankingCase {
  readonly query: string;
  readonly documents: readonly string[];
  readonly input_tokens: number;
  /** By precision: `[documents]`, 0 to 1. */
  readonly scores: Readonly<Record<string, readonly number[]>>;
}

export interface GoldenFile<Case> {
  readonly cases: readonly Case[];
}

/**
 * int8 on another CPU may differ a little; full precision may not. A choice that was clear, by more than twice the
 * shift, cannot change inside these limits.
 */
const LARGEST_SHIFT: Readonly<Record<string, number>> = { fp32: 1e-3 };
const LARGEST_QUANTIZED_SHIFT = 0.05;
const LEAST_COSINE: Readonly<Record<string, number>> = { fp32: 0.9999 };
const LEAST_QUANTIZED_COSINE = 0.99;

export function toQuestion(raw: GoldenQuestion): Question {
  const { instructions } = raw;
  switch (raw.type) {
    case 'choice':
      return {
        type: 'choice',
        instructions,
        options: raw.options.map(([name, description]) => ({ name, description })),
      };
    case 'score':
      return { type: 'score', instructions, levels: raw.levels };
    case 'noul':
      return { type: 'noul', instructions, whenFalse: raw.false ?? null, whenTrue: raw.true ?? null };
  }
}

/** @returns what is wrong with one question's probabilities `[options]`, or scores `[documents]`, undefined when they agree */
export function findDecisionFault(
  expected: readonly number[],
  actual: ArrayLike<number>,
  precision: string,
): string | undefined {
  if (expected.length !== actual.length) return `${actual.length} probabilities where ${expected.length} were due`;
  const shift = expected.reduce((most, value, i) => Math.max(most, Math.abs(value - (actual[i] ?? Number.NaN))), 0);
  const limit = LARGEST_SHIFT[precision] ?? LARGEST_QUANTIZED_SHIFT;
  // Written so that NaN is a fault.
  return shift <= limit ? undefined : `a probability is off by ${shift.toFixed(4)}; at most ${limit} is allowed`;
}

/** @returns what is wrong with an embedding, undefined when it agrees */
export function findEmbeddingFault(
  expected: readonly number[],
  actual: ArrayLike<number>,
  precision: string,
): string | undefined {
  if (expected.length !== actual.length) return `${actual.length} dimensions where ${expected.length} were due`;
  const cosine = cosineOf(expected, actual);
  const least = LEAST_COSINE[precision] ?? LEAST_QUANTIZED_COSINE;
  return cosine >= least ? undefined : `cosine ${cosine.toFixed(5)} to the golden vector; at least ${least} is due`;
}

export function cosineOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, left, right] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return dot / Math.sqrt(left * right);
}
