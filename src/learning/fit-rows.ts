// Frozen rows as a fit reads them: in an order of their own, vectors centred, scaled, and in the coordinates of their span.
// Labels have no part in any of it, so rows that are held out may have.

import type { QuestionType } from '../domain/question.ts';
import { findRowSpan, type RowSpan, solveTransposed } from './cholesky.ts';
import type { FrozenQuestion, FrozenRow } from './frozen-rows.ts';
import { logOf, normalise, placesOfOptions } from './head-form.ts';
import type { VectorPart } from './learned-model.ts';
import type { WorkPace } from './work-pace.ts';

export interface FitRows {
  readonly type: QuestionType;
  readonly options: number;
  /** `[rows]`, sorted by document: the order of a file changes nothing. */
  readonly rows: readonly FrozenRow[];
  /** `[rows, width]` */
  readonly x: Float64Array;
  readonly width: number;
  /** `[rows, options]`: the base's log-probabilities, less their mean over the options that were offered. */
  readonly prior: Float64Array;
  /** `[rows, options]`: 1 where the option was offered in that row. */
  readonly offered: Uint8Array;
  /** `[rows, options]` */
  readonly target: Float64Array;
  /** `[options]` of noul and score: where an option stands on the scale; of a choice undefined. */
  readonly places: readonly number[] | undefined;
  readonly parts: readonly VectorPart[];
  /** `[dimensions]` */
  readonly centre: Float32Array;
  /** From weights of `x` to weights of normalised vectors. @param weights `[width, columns]` @returns `[columns, dimensions]` */
  toVectorWeights(weights: Float64Array, columns: number): Float32Array;
}

/** @param parts of the vector; each weighs the same */
export async function arrangeRows(
  question: FrozenQuestion,
  parts: readonly VectorPart[],
  pace: WorkPace,
): Promise<FitRows> {
  const rows = question.rows.toSorted(compareRows);
  const options = question.options.length;
  const dimensions = rows[0]?.vector.length ?? 0;
  const centre = meanOf(rows, dimensions);
  // Each row of a part has length 1, all parts together too: what a penalty means does not depend on their number.
  const scale = 1 / Math.sqrt(parts.length);
  const scaled = new Float64Array(rows.length * dimensions);
  for (const [i, { vector }] of rows.entries()) {
    scaled.set(
      normalise(vector, { centre, parts }).map((value) => value * scale),
      i * dimensions,
    );
  }
  // Of fewer rows than dimensions the solution lies in their span: the same problem, smaller.
  const span = rows.length < dimensions ? await findRowSpan(scaled, rows.length, pace) : undefined;
  const toWeights = (weights: Float64Array, columns: number): Float32Array => {
    const full = span === undefined ? weights : leaveSpan(span, scaled, weights, columns);
    const turned = new Float32Array(columns * dimensions);
    for (let d = 0; d < dimensions; d++) {
      for (let k = 0; k < columns; k++) turned[k * dimensions + d] = (full[d * columns + k] ?? 0) * scale;
    }
    return turned;
  };
  return {
    type: question.type,
    options,
    rows,
    x: span?.coordinates ?? scaled,
    width: span?.rank ?? dimensions,
    ...arrangeOptions(rows, options),
    places: placesOfOptions(question.type, options),
    parts,
    centre,
    toVectorWeights: toWeights,
  };
}

function arrangeOptions(rows: readonly FrozenRow[], options: number): Pick<FitRows, 'prior' | 'offered' | 'target'> {
  const prior = new Float64Array(rows.length * options);
  const offered = new Uint8Array(rows.length * options);
  const target = new Float64Array(rows.length * options);
  for (const [i, row] of rows.entries()) {
    const logs = row.zeroShot.map((probability) => (Number.isNaN(probability) ? Number.NaN : logOf(probability)));
    const known = logs.filter((log) => !Number.isNaN(log));
    const middle = known.reduce((total, log) => total + log, 0) / Math.max(1, known.length);
    for (let k = 0; k < options; k++) {
      const log = logs[k] ?? Number.NaN;
      if (Number.isNaN(log)) continue;
      prior[i * options + k] = log - middle;
      offered[i * options + k] = 1;
      target[i * options + k] = row.target[k] ?? 0;
    }
  }
  return { prior, offered, target };
}

function compareRows(a: FrozenRow, b: FrozenRow): number {
  if (a.state !== b.state) return a.state < b.state ? -1 : 1;
  return compareLists(a.target, b.target) || compareLists(a.zeroShot, b.zeroShot) || a.line - b.line;
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  // What was not offered is NaN: it compares as −1.
  const at = a.findIndex((value, i) => !Object.is(value, b[i]));
  return at < 0 ? 0 : (a[at] || -1) - (b[at] || -1);
}

function meanOf(rows: readonly FrozenRow[], dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (const { vector } of rows) for (let d = 0; d < dimensions; d++) sums[d] = (sums[d] ?? 0) + (vector[d] ?? 0);
  return Float32Array.from(sums, (sum) => sum / rows.length);
}

/** @returns `[dimensions, columns]` */
function leaveSpan(span: RowSpan, rows: Float64Array, weights: Float64Array, columns: number): Float64Array {
  const { rank, pivots, coordinates } = span;
  const triangle = new Float64Array(rank * rank);
  for (const [i, pivot] of pivots.entries())
    triangle.set(coordinates.subarray(pivot * rank, (pivot + 1) * rank), i * rank);
  const shares = Float64Array.from(weights);
  solveTransposed({ lower: triangle, stride: rank }, rank, shares, columns);
  const dimensions = rows.length / (coordinates.length / rank);
  const full = new Float64Array(dimensions * columns);
  for (const [i, pivot] of pivots.entries()) {
    for (let d = 0; d < dimensions; d++) {
      const value = rows[pivot * dimensions + d] ?? 0;
      for (let k = 0; k < columns; k++)
        full[d * columns + k] = (full[d * columns + k] ?? 0) + value * (shares[i * columns + k] ?? 0);
    }
  }
  return full;
}
