// Cholesky factors of symmetric matrices: of a positive definite one to solve by, of one that may be singular to find the
// span of rows. Pure; matrices are row after row.

import type { WorkPace } from './work-pace.ts';

/** `L` of `L · Lᵀ = matrix`. @param matrix `[n, n]`, positive definite; the upper half is not read */
async function factorise(matrix: Float64Array, n: number, pace: WorkPace): Promise<Float64Array> {
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

/** @param matrix `[n, n]`, positive definite; the upper half is not read */
export async function invert(matrix: Float64Array, n: number, pace: WorkPace): Promise<Float64Array> {
  const lower = await factorise(matrix, n, pace);
  // Row i of M = L⁻¹, from those above it; then the inverse is Mᵀ · M.
  const rows = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    rows[i * n + i] = 1;
    for (let j = 0; j < i; j++)
      addRow(rows, { to: i * n, from: j * n, factor: -(lower[i * n + j] ?? 0), length: j + 1 });
    const diagonal = lower[i * n + i] ?? 1;
    for (let k = 0; k <= i; k++) rows[i * n + k] = (rows[i * n + k] ?? 0) / diagonal;
    await pace.spend((i * i) / 2);
  }
  const inverse = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      addRow(inverse, { to: j * n, from: i * n, factor: rows[i * n + j] ?? 0, length: i + 1 }, rows);
    }
    await pace.spend((i * i) / 2);
  }
  return inverse;
}

/** Solves `Lᵀ · x = values` in place. @param lower `[n, stride]`, of which the first n columns count @param values `[n, columns]` */
export function solveTransposed(
  { lower, stride }: { readonly lower: Float64Array; readonly stride: number },
  n: number,
  values: Float64Array,
  columns: number,
): void {
  for (let i = n - 1; i >= 0; i--) {
    const diagonal = lower[i * stride + i] ?? 1;
    for (let k = i * columns; k < (i + 1) * columns; k++) values[k] = (values[k] ?? 0) / diagonal;
    for (let j = 0; j < i; j++) {
      addRow(values, { to: j * columns, from: i * columns, factor: -(lower[i * stride + j] ?? 0), length: columns });
    }
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

interface RowAddition {
  readonly to: number;
  readonly from: number;
  readonly factor: number;
  readonly length: number;
}

function addRow(values: Float64Array, { to, from, factor, length }: RowAddition, source: Float64Array = values): void {
  for (let k = 0; k < length; k++) values[to + k] = (values[to + k] ?? 0) + factor * (source[from + k] ?? 0);
}
