// From logits to probabilities: softmax at a temperature, and which temperature of a model a question takes. Pure.

import type { QuestionType } from './question.ts';

/** By question type, then by number of options (`2`, `3-5`, `6-10`, `11+`), as a manifest has them. */
export type Temperatures = Readonly<Partial<Record<QuestionType, Readonly<Record<string, number>>>>>;

/** The manifest's name for a number of options. */
export function temperatureBucket(options: number): string {
  if (options <= 2) return '2';
  if (options <= 5) return '3-5';
  return options <= 10 ? '6-10' : '11+';
}

export function temperatureOf(temperatures: Temperatures, type: QuestionType, options: number): number {
  return temperatureOfBucket(temperatures[type], temperatureBucket(options));
}

/** A bucket that is not named takes the last one that is. @param buckets of one question type */
export function temperatureOfBucket(buckets: Temperatures[QuestionType], bucket: string): number {
  return buckets?.[bucket] ?? Object.values(buckets ?? {}).at(-1) ?? 1;
}

/** softmax(logits / temperature) in float64. @param logits `[n]`, n ≥ 1 */
export function softmax(logits: ArrayLike<number>, temperature: number): number[] {
  const scaled = Array.from(logits, (logit) => logit / temperature);
  const top = scaled.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = scaled.map((logit) => Math.exp(logit - top));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / total);
}
