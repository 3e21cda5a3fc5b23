// What fitted heads say of rows: logits, losses, probabilities, and the temperature that makes them honest. Pure.

import type { FittedHead } from './fit-head.ts';
import type { FitRows } from './fit-rows.ts';
import { multiply } from './products.ts';

/** @param into `[rows, options]`, written for these members: −∞ where an option was not offered. @param newOption what an option without rows has instead of a bias */
export function predictInto(
  into: Float64Array,
  { rows, members }: { readonly rows: FitRows; readonly members: readonly number[] },
  { weights, biases, offset, isLearned }: FittedHead,
  newOption: number,
): void {
  const { options, places, prior, offered } = rows;
  const columns = places === undefined ? options : 1;
  const scores = new Float64Array(members.length * columns);
  multiply(rows, members, weights, scores, columns);
  for (const [at, row] of members.entries()) {
    for (let k = 0; k < options; k++) {
      const place = row * options + k;
      const score = places === undefined ? (scores[at * columns + k] ?? 0) : (places[k] ?? 0) * (scores[at] ?? 0);
      const learned = isLearned[k] ? (biases[k] ?? 0) + score : newOption;
      into[place] = offered[place] === 0 ? Number.NEGATIVE_INFINITY : offset * (prior[place] ?? 0) + learned;
    }
  }
}

export function zeroShotLogits({ prior, offered }: FitRows): Float64Array {
  return prior.map((value, at) => (offered[at] === 0 ? Number.NEGATIVE_INFINITY : value));
}

/** Cross-entropy of one row, in nats. */
export function lossOfRow({ options, target }: FitRows, logits: Float64Array, row: number, temperature = 1): number {
  const from = row * options;
  let top = Number.NEGATIVE_INFINITY;
  for (let k = from; k < from + options; k++) top = Math.max(top, logits[k] ?? Number.NEGATIVE_INFINITY);
  let total = 0;
  for (let k = from; k < from + options; k++) total += Math.exp(((logits[k] ?? 0) - top) / temperature);
  const logTotal = Math.log(total);
  let loss = 0;
  for (let k = from; k < from + options; k++) {
    const share = target[k] ?? 0;
    if (share > 0) loss += share * (logTotal - ((logits[k] ?? 0) - top) / temperature);
  }
  return loss;
}

export function lossOfRows(rows: FitRows, logits: Float64Array, members: readonly number[], temperature = 1): number {
  return members.reduce((sum, row) => sum + lossOfRow(rows, logits, row, temperature), 0);
}

/** `[options]` of one row; 0 where an option was not offered. */
export function probabilitiesOfRow(
  { options }: FitRows,
  logits: Float64Array,
  row: number,
  temperature: number,
): number[] {
  const own = Array.from(logits.subarray(row * options, (row + 1) * options));
  const top = own.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = own.map((logit) => Math.exp((logit - top) / temperature));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / total);
}

/** How much a temperature away from 1 must gain. */
const TEMPERATURE_PENALTY = 2;
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** The temperature of the least loss of these rows, from 0.3 to 3. */
export function temperatureOfRows(rows: FitRows, logits: Float64Array, members: readonly number[]): number {
  const found = leastPoint([Math.log(0.3), Math.log(3)], (log) => {
    return lossOfRows(rows, logits, members, Math.exp(log)) + TEMPERATURE_PENALTY * log * log;
  });
  return Math.exp(found);
}

/** Where a function of one minimum has it, by golden sections. */
export function leastPoint([from, to]: readonly [number, number], valueAt: (point: number) => number): number {
  let [low, high] = [from, to];
  for (let step = 0; step < 22; step++) {
    const left = high - GOLDEN_RATIO * (high - low);
    const right = low + GOLDEN_RATIO * (high - low);
    if (valueAt(left) < valueAt(right)) high = right;
    else low = left;
  }
  return (low + high) / 2;
}
