// From piece vectors to option vectors, and from logits to probabilities in the order of the request. Pure.

import type { QuestionType } from '../../domain/question.ts';
import type { Chunk } from './prompt.ts';

/** Temperatures of the manifest: by question type, then by number of options (`2`, `3-5`, `6-10`, `11+`). */
export type Temperatures = Readonly<Partial<Record<QuestionType, Readonly<Record<string, number>>>>>;

/** Means of pieces, weighted by their tokens, gathered chunk by chunk into one vector per option. */
export class OptionPool {
  private readonly options: number;
  private readonly tokens: Float64Array;
  private sums = new Float64Array();

  constructor(options: number) {
    this.options = options;
    this.tokens = new Float64Array(options);
  }

  /** @param pieceVectors `[pieces, hidden]` of one chunk */
  add(chunk: Chunk, pieceVectors: Float32Array): void {
    const hidden = pieceVectors.length / chunk.options.length;
    if (this.sums.length === 0) this.sums = new Float64Array(this.options * hidden);
    for (const [piece, option] of chunk.options.entries()) {
      const weight = chunk.lengths[piece] ?? 0;
      this.tokens[option] = (this.tokens[option] ?? 0) + weight;
      for (let i = 0; i < hidden; i++) {
        const at = option * hidden + i;
        this.sums[at] = (this.sums[at] ?? 0) + weight * (pieceVectors[piece * hidden + i] ?? 0);
      }
    }
  }

  /** @returns `[options, hidden]` */
  vectors(): Float32Array {
    const hidden = this.sums.length / this.options;
    return Float32Array.from(this.sums, (sum, at) => sum / (this.tokens[Math.floor(at / hidden)] ?? 1));
  }
}

/** The manifest's name for a number of options. */
export function temperatureBucket(options: number): string {
  if (options <= 2) return '2';
  if (options <= 5) return '3-5';
  return options <= 10 ? '6-10' : '11+';
}

/** Temperature for a question; a bucket the manifest does not name takes the last one it does. */
export function temperatureOf(temperatures: Temperatures, type: QuestionType, options: number): number {
  const buckets = temperatures[type] ?? {};
  return buckets[temperatureBucket(options)] ?? Object.values(buckets).at(-1) ?? 1;
}

/** softmax(logits / temperature) in float64. @param logits `[n]`, n ≥ 1 */
export function softmax(logits: ArrayLike<number>, temperature: number): number[] {
  const scaled = Array.from(logits, (logit) => logit / temperature);
  const top = scaled.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = scaled.map((logit) => Math.exp(logit - top));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / total);
}

/** Values in the model's order, put back in the request's. @param order place in the request of each value */
export function restoreOrder(values: readonly number[], order: readonly number[]): number[] {
  const restored = new Array<number>(values.length).fill(0);
  for (const [index, place] of order.entries()) restored[place] = values[index] ?? 0;
  return restored;
}
