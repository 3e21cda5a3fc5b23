// The two products of matrices that fitting is made of. Pure; several rows at a time, which spares most of the reading and
// writing, and always in the same order.

export interface RowMatrix {
  /** `[rows, width]` */
  readonly x: Float64Array;
  readonly width: number;
}

/**
 * scores = x · weights for some rows of x.
 * @param weights `[width, columns]` @param scores `[members, columns]`, written
 */
export function multiply(
  { x, width }: RowMatrix,
  members: ArrayLike<number>,
  weights: Float64Array,
  scores: Float64Array,
  columns: number,
): void {
  scores.fill(0);
  const paired = members.length - (members.length % 2);
  for (let at = 0; at < paired; at += 2) {
    const first = (members[at] ?? 0) * width;
    const second = (members[at + 1] ?? 0) * width;
    const to = at * columns;
    const next = to + columns;
    for (let d = 0; d < width; d += 2) {
      const hasMore = d + 1 < width;
      const a = x[first + d] ?? 0;
      const b = hasMore ? (x[first + d + 1] ?? 0) : 0;
      const c = x[second + d] ?? 0;
      const e = hasMore ? (x[second + d + 1] ?? 0) : 0;
      const row = d * columns;
      const below = hasMore ? row + columns : row;
      for (let k = 0; k < columns; k++) {
        const upper = weights[row + k] ?? 0;
        const lower = weights[below + k] ?? 0;
        scores[to + k] = (scores[to + k] ?? 0) + (a * upper + b * lower);
        scores[next + k] = (scores[next + k] ?? 0) + (c * upper + e * lower);
      }
    }
  }
  for (let at = paired; at < members.length; at++) {
    const from = (members[at] ?? 0) * width;
    const to = at * columns;
    for (let d = 0; d < width; d++) {
      const value = x[from + d] ?? 0;
      for (let k = 0; k < columns; k++)
        scores[to + k] = (scores[to + k] ?? 0) + value * (weights[d * columns + k] ?? 0);
    }
  }
}

/**
 * gradient += xᵀ · residues for some rows of x.
 * @param residues `[members, columns]` @param gradient `[width, columns]`, written
 */
export function addProducts(
  { x, width }: RowMatrix,
  members: readonly number[],
  residues: Float64Array,
  gradient: Float64Array,
  columns: number,
): void {
  const whole = members.length - (members.length % 4);
  for (let at = 0; at < whole; at += 4) {
    const first = (members[at] ?? 0) * width;
    const second = (members[at + 1] ?? 0) * width;
    const third = (members[at + 2] ?? 0) * width;
    const fourth = (members[at + 3] ?? 0) * width;
    const r1 = at * columns;
    const r2 = r1 + columns;
    const r3 = r2 + columns;
    const r4 = r3 + columns;
    for (let d = 0; d < width; d++) {
      const a = x[first + d] ?? 0;
      const b = x[second + d] ?? 0;
      const c = x[third + d] ?? 0;
      const e = x[fourth + d] ?? 0;
      const to = d * columns;
      for (let k = 0; k < columns; k++) {
        gradient[to + k] =
          (gradient[to + k] ?? 0) +
          (a * (residues[r1 + k] ?? 0) +
            b * (residues[r2 + k] ?? 0) +
            c * (residues[r3 + k] ?? 0) +
            e * (residues[r4 + k] ?? 0));
      }
    }
  }
  for (let at = whole; at < members.length; at++) {
    const from = (members[at] ?? 0) * width;
    for (let d = 0; d < width; d++) {
      const value = x[from + d] ?? 0;
      for (let k = 0; k < columns; k++) {
        gradient[d * columns + k] = (gradient[d * columns + k] ?? 0) + value * (residues[at * columns + k] ?? 0);
      }
    }
  }
}
