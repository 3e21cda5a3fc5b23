// One vector of what a graph gave for one row: pooled as the manifest says, and brought to length 1. Pure.

import type { TextEncoderManifest } from '../../model-folder/manifest.ts';

/** An output of the graph. */
export interface RowOutput {
  readonly values: Float32Array;
  /** Shape. */
  readonly dims: readonly number[];
}

export interface PooledRow {
  /** Tokens of the row, specials included. */
  readonly size: number;
  /** First of them that is pooled. */
  readonly from: number;
}

type PoolingManifest = Pick<TextEncoderManifest, 'dimensions' | 'pooling' | 'normalized'>;

/**
 * Sums in double precision: the order in which a reference adds is nobody's contract.
 * @returns `[dimensions]` @throws Error when the graph gave another shape, or something that is no number
 */
export function poolRow(output: RowOutput, row: PooledRow, manifest: PoolingManifest): Float32Array {
  requireShape(output.dims, row, manifest);
  const vector = manifest.pooling === 'graph' ? output.values : poolTokens(output.values, row, manifest);
  if (!vector.every(Number.isFinite)) throw new Error('the graph gave something that is no number');
  return manifest.normalized === true ? Float32Array.from(vector) : normalized(vector);
}

function requireShape(dims: readonly number[], { size }: PooledRow, { pooling, dimensions }: PoolingManifest): void {
  const due = pooling === 'graph' ? [1, dimensions] : [1, size, dimensions];
  if (dims.join() === due.join()) return;
  throw new Error(`the graph gave a tensor of [${dims.join(', ')}] where [${due.join(', ')}] was due`);
}

function poolTokens(values: Float32Array, { size, from }: PooledRow, { pooling, dimensions }: PoolingManifest) {
  const tokenAt = (place: number) => values.subarray(place * dimensions, (place + 1) * dimensions);
  // A row that is all prompt still has its last token.
  const first = Math.min(from, size - 1);
  if (pooling === 'cls') return tokenAt(first);
  if (pooling === 'last') return tokenAt(size - 1);
  const sums = new Float64Array(dimensions);
  for (let place = first; place < size; place++) {
    const base = place * dimensions;
    for (let at = 0; at < dimensions; at++) sums[at] = (sums[at] ?? 0) + (values[base + at] ?? 0);
  }
  return sums;
}

/** A sum points where its mean points. A vector of length 0 has no direction and stays as it is. */
function normalized(vector: Float32Array | Float64Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const norm = Math.sqrt(squares);
  return Float32Array.from(vector, (value) => (norm === 0 ? 0 : value / norm));
}
