// Cholesky factors of symmetric matrices: of a positive definite one to solve by, of one that may be singular to find the
// span of rows. Pure; matrices are row after row.

import type { WorkPace } from './work-pace.ts';

/** `L` of `L · Lᵀ = matrix`. @param matrix `[n, n]`, positive definite; the upper half is not read */
export async function factorise(matrix: Float64Array, n: number, pace: WorkPace): Promise<Float64Array> {
  const lower = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const rest = (matrix[i * n + j] ?? 0) - dotRows(lower, i * n, j * n, j);
      lower[i * n + j] = i === j ? Math.sqrt(rest) : rest / (lower[j * n + j] ?? 1);
    }
    await pace.spend((i * i) / 2);
  }
  return lower;
}

/** Solves `L · Lᵀ · x = values` in place. @param lower `[n, n]` @param values `[n, columns]` */
export function solve(lower: Float64Array, n: number, values: Float64Array, columns: number): void {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) addRow(values, i, j, -(lower[i * n + j] ?? 0), columns);
    scaleRow(values, i, 1 / (lower[i * n + i] ?? 1), columns);
  }
  for (let i = n - 1; i >= 0; i--) {
    scaleRow(values, i, 1 / (lower[i * n + i] ?? 1), columns);
    // Row i of L is column i of Lᵀ: what is known of x[i] is taken from all rows above at once.
    for (let j = 0; j < i; j++) addRow(values, j, i, -(lower[i * n + j] ?? 0), columns);
  }
}

/** Solves `Lᵀ · x = values` in place. @param lower `[n, stride]`, of which the first n columns count @param values `[n, columns]` */
export function solveTransposed(
  { lower, stride }: { readonly lower: Float64Array; readonly stride: number },
  n: number,
  values: Float64Array,
  columns: number,
): void {
  for (let i = n - 1; i >= 0; i--) {
    scaleRow(values, i, 1 / (lower[i * stride + i] ?? 1), columns);
    for (let j = 0; j < i; j++) addRow(values, j, i, -(lower[i * stride + j] ?? 0), columns);
  }
}

export interface RowSpan {
  /** `[rows, rank]`: the rows in coordinates of the space that they span. */
  readonly coordinates: Float64Array;
  readonly rank: number;
  /** `[rank]`: the rows that span it. Their coordinates, in this order, are a lower triangle. */
  readonly pivots: readonly number[];
}

/** A row that is nearer to the span of the others, by its squared length, lies in it. */
const LEAST_RESIDUE = 1e-13;

/** @param rows `[count, dimensions]` */
export async function findRowSpan(rows: Float64Array, count: number, pace: WorkPace): Promise<RowSpan> {
  const dimensions = rows.length / count;
  const residues = Float64Array.from({ length: count }, (_, i) =>
    dotRows(rows, i * dimensions, i * dimensions, dimensions),
  );
  const floor = LEAST_RESIDUE * residues.reduce((a, b) => Math.max(a, b), 0);
  const factor = new Float64Array(count * count);
  const pivots: number[] = [];
  for (let step = 0; step < count; step++) {
    const pivot = residues.reduce((best, residue, i) => (residue > (residues[best] ?? 0) ? i : best), 0);
    const residue = residues[pivot] ?? 0;
    if (!(residue > floor)) break;
    const length = Math.sqrt(residue);
    for (let i = 0; i < count; i++) {
      if (residues[i] === 0 && i !== pivot && pivots.includes(i)) continue;
      const product = dotRows(rows, i * dimensions, pivot * dimensions, dimensions);
      const value = i === pivot ? length : (product - dotRows(factor, i * count, pivot * count, step)) / length;
      factor[i * count + step] = value;
      residues[i] = i === pivot ? 0 : Math.max(0, (residues[i] ?? 0) - value * value);
    }
    pivots.push(pivot);
    await pace.spend(count * (dimensions + step));
  }
  const rank = pivots.length;
  const coordinates = new Float64Array(count * rank);
  for (let i = 0; i < count; i++) coordinates.set(factor.subarray(i * count, i * count + rank), i * rank);
  return { coordinates, rank, pivots };
}

function dotRows(values: Float64Array, from: number, other: number, length: number): number {
  let total = 0;
  for (let i = 0; i < length; i++) total += (values[from + i] ?? 0) * (values[other + i] ?? 0);
  return total;
}

function addRow(values: Float64Array, to: number, from: number, factor: number, columns: number): void {
  const [target, source] = [to * columns, from * columns];
  for (let k = 0; k < columns; k++) values[target + k] = (values[target + k] ?? 0) + factor * (values[source + k] ?? 0);
}

function scaleRow(values: Float64Array, row: number, factor: number, columns: number): void {
  for (let at = row * columns; at < (row + 1) * columns; at++) values[at] = (values[at] ?? 0) * factor;
}
