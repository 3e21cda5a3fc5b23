import { describe, expect, it } from 'vitest';
import { type CandidateRow, certaintyMargin, RowOrder } from './next-row.ts';

const row = (margin: number, ...vector: number[]): CandidateRow => ({
  margin,
  vector: vector.length === 0 ? undefined : Float32Array.from(vector),
});
const allOf = (rows: readonly CandidateRow[]): number[] => rows.map((_, place) => place);

/** Each row, in the order in which it is asked about. */
function orderOf(rows: readonly CandidateRow[]): number[] {
  const order = new RowOrder(rows);
  const asked: number[] = [];
  for (const _ of rows) {
    const next = order.next(
      allOf(rows).filter((place) => !asked.includes(place)),
      asked,
    );
    if (next !== undefined) asked.push(next);
  }
  return asked;
}

describe('a margin', () => {
  it('lies between the two most probable', () => {
    expect(certaintyMargin([0.1, 0.5, 0.4])).toBeCloseTo(0.1);
    expect(certaintyMargin([1])).toBe(1);
  });
});

describe('the next row', () => {
  it('is the least certain one at first, then the most different of the least certain', () => {
    const rows = [row(0.5, 1, 0), row(0.1, 1, 0.1), row(0.2, 0, 1), row(0.15, 1, 0.05)];
    const order = new RowOrder(rows);
    expect(order.next(allOf(rows), [])).toBe(1);
    expect(order.next([0, 2, 3], [1])).toBe(2);
  });

  it('is not one that the model is sure of, however different', () => {
    const unsure = Array.from({ length: 40 }, (_, place) => row(0.1, 1, place / 100));
    const order = orderOf([row(0.9, -1, -1), ...unsure]);
    expect(order).toHaveLength(41);
    // Sixteen rows are too few to be choosy among.
    expect(order.indexOf(0)).toBe(25);
  });

  it('is not like one that was asked about', () => {
    const rows = [row(0.1, 1, 0), row(0.11, 1, 0), row(0.12, 1, 0), row(0.13, 0, 1), row(0.14, -1, -1)];
    expect(orderOf(rows).slice(0, 3).sort()).toEqual([0, 3, 4]);
  });

  it('is the least certain one where nothing is known of what rows are like', () => {
    expect(orderOf([row(0.3), row(0.1), row(0.2)])).toEqual([1, 2, 0]);
  });

  it('is the same after something was taken back', () => {
    const rows = Array.from({ length: 40 }, (_, place) =>
      row((place % 7) / 10, Math.sin(place), Math.cos(place * 2), place % 3),
    );
    const order = new RowOrder(rows);
    const open = allOf(rows).slice(3);
    const first = order.next(open, [0, 1, 2]);
    order.next(open.slice(1), [0, 1, 2, open[0] ?? 0]);
    expect(order.next(open, [0, 1, 2])).toBe(first);
    expect(new RowOrder(rows).next(open, [2, 0, 1])).toBe(first);
  });

  it('is none where none is left', () => {
    expect(new RowOrder([row(0.1, 1)]).next([], [0])).toBeUndefined();
  });
});
