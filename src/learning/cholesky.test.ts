import { describe, expect, it } from 'vitest';
import { findRowSpan, invert, solveTransposed } from './cholesky.ts';
import { WorkPace } from './work-pace.ts';

const pace = new WorkPace(undefined);

/** `[n, n]`: rows · rowsᵀ */
function productsOf(rows: Float64Array, count: number): number[] {
  const width = rows.length / count;
  return Array.from({ length: count * count }, (_, at) => {
    const [i, j] = [Math.floor(at / count), at % count];
    let total = 0;
    for (let d = 0; d < width; d++) total += (rows[i * width + d] ?? 0) * (rows[j * width + d] ?? 0);
    return total;
  });
}

const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 10));

describe('the span of rows', () => {
  // The third is the sum of the first two, the fourth is the first once more.
  const rows = Float64Array.of(1, 2, 0, 0, 1, 0, 1, 0, 3, 1, 1, 3, 0, 3, 2, 1, 2, 0, 0, 1);

  it('has as many dimensions as rows that are their own, and keeps all lengths and angles', async () => {
    const { coordinates, rank } = await findRowSpan(rows, 4, pace);
    expect(rank).toBe(2);
    expect(productsOf(coordinates, 4)).toEqual(near(productsOf(rows, 4)));
  });

  it('is spanned by its pivots: their coordinates are a lower triangle', async () => {
    const { coordinates, rank, pivots } = await findRowSpan(rows, 4, pace);
    const [first = -1, second = -1] = pivots;
    expect(coordinates[first * rank + 1]).toBe(0);
    expect(coordinates[second * rank + 1]).toBeGreaterThan(0);
  });

  it('of rows without length has no dimension', async () => {
    expect(await findRowSpan(new Float64Array(6), 3, pace)).toMatchObject({ rank: 0, pivots: [] });
  });
});

describe('a positive definite matrix', () => {
  it('times its inverse is one', async () => {
    const matrix = Float64Array.of(4, 2, -1, 2, 5, 0.5, -1, 0.5, 3);
    const inverse = await invert(matrix, 3, pace);
    const product = Array.from({ length: 9 }, (_, at) =>
      [0, 1, 2].reduce(
        (sum, k) => sum + (matrix[3 * Math.floor(at / 3) + k] ?? 0) * (inverse[3 * k + (at % 3)] ?? 0),
        0,
      ),
    );
    expect(product).toEqual(near([1, 0, 0, 0, 1, 0, 0, 0, 1]));
  });
});

describe('a lower triangle', () => {
  it('is solved by its transpose, a column beside the other', () => {
    const values = Float64Array.of(8, 4, 6, 3);
    solveTransposed({ lower: Float64Array.of(2, 0, 1, 3), stride: 2 }, 2, values, 2);
    expect([...values]).toEqual([3, 1.5, 2, 1]);
  });
});
