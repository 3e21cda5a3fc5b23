// Which rows heads are fitted on and judged by. Drawn in the proportion in which options occur, as somebody's own cases
// come; the same seed gives the same rows everywhere.

import { makeRandom } from '../../load/workload.ts';

export const ROWS_PER_OPTION = [8, 16, 32, 64] as const;

/** Fewer tell nothing. */
const LEAST_TEST_ROWS = 60;

export interface Draw {
  readonly rowsPerOption: number;
  readonly seed: number;
  /** Places of rows; there are `rowsPerOption` × options of them. */
  readonly training: readonly number[];
  /** Places of other rows. */
  readonly test: readonly number[];
}

export interface DrawLimits {
  readonly seeds: number;
  /** A draw with more is left out. */
  readonly trainingRows: number;
  readonly testRows: number;
}

/** Rows of a task that any draw may need. */
export function countRowsNeeded(options: number, { trainingRows, testRows }: DrawLimits): number {
  const sizes = ROWS_PER_OPTION.map((size) => size * options).filter((rows) => rows <= trainingRows);
  return Math.max(0, ...sizes) + testRows;
}

/** Draws of one seed hold each other: more rows are fewer rows and others. Those that leave too few to judge by are left out. */
export function drawRows({ rows, options }: { rows: number; options: number }, limits: DrawLimits): Draw[] {
  const orders = Array.from({ length: limits.seeds }, (_, seed) => shuffledPlaces(rows, seed + 1));
  return ROWS_PER_OPTION.flatMap((rowsPerOption) => {
    const wanted = rowsPerOption * options;
    if (wanted > limits.trainingRows || wanted + LEAST_TEST_ROWS > rows) return [];
    return orders.map((order, seed) => ({
      rowsPerOption,
      seed: seed + 1,
      training: order.slice(0, wanted),
      test: order.slice(wanted, wanted + limits.testRows),
    }));
  });
}

function shuffledPlaces(rows: number, seed: number): number[] {
  const random = makeRandom(seed);
  const places = Array.from({ length: rows }, (_, place) => place);
  for (let last = rows - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [places[last], places[other]] = [places[other] ?? 0, places[last] ?? 0];
  }
  return places;
}
