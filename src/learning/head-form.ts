// What fitting a head and answering by it have in common: how a vector is normalised, and where options stand. Pure.

import type { QuestionType } from '../domain/question.ts';
import type { Head } from './learned-model.ts';

/** A probability below this says no more: one certain mistake of the base must not decide over the rest. */
const LEAST_PROBABILITY = 1e-6;

/** @returns `[dimensions]` of float64 */
export function normalise(vector: Float32Array, { centre, parts }: Pick<Head, 'centre' | 'parts'>): Float64Array {
  if (vector.length !== centre.length) {
    throw new RangeError(`A vector of ${vector.length} dimensions was given to a head of ${centre.length}.`);
  }
  const x = new Float64Array(vector.length);
  for (let i = 0; i < x.length; i++) x[i] = (vector[i] ?? 0) - (centre[i] ?? 0);
  let start = 0;
  for (const { dimensions, isUnit } of parts) {
    if (isUnit) scaleToUnit(x.subarray(start, start + dimensions));
    start += dimensions;
  }
  return x;
}

function scaleToUnit(x: Float64Array): void {
  let squares = 0;
  for (const value of x) squares += value * value;
  if (squares === 0) return;
  const length = Math.sqrt(squares);
  for (let i = 0; i < x.length; i++) x[i] = (x[i] ?? 0) / length;
}

/** `[options]`: the centred place of each option of noul and score; undefined for a choice, whose options have none. */
export function placesOfOptions(type: QuestionType, options: number): number[] | undefined {
  if (type === 'choice') return undefined;
  return Array.from({ length: options }, (_, place) => place - (options - 1) / 2);
}

/** log p, with a least p. */
export function logOf(probability: number): number {
  return Math.log(Math.max(probability, LEAST_PROBABILITY));
}
