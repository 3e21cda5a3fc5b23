// Rows dealt into folds for cross-validation: all rows of one document into one fold, labels evenly, the same every time.

import type { FitRows } from './fit-rows.ts';

/** Of rows, options and dimensions from which three folds must do: the fits of five would take minutes. */
const LARGE_PROBLEM = 2e7;

/** `[folds][rows]`, places of rows. */
export function dealFolds(rows: FitRows): number[][] {
  const { options, target, width } = rows;
  const count = rows.rows.length * options * width > LARGE_PROBLEM ? 3 : 5;
  const groups = [...Map.groupBy(rows.rows.keys(), (row) => rows.rows[row]?.state).values()];
  const byLabel = Map.groupBy(groups, ([row = 0]) => {
    let best = 0;
    for (let k = 1; k < options; k++) {
      if ((target[row * options + k] ?? 0) > (target[row * options + best] ?? 0)) best = k;
    }
    return best;
  });
  const folds = Array.from({ length: count }, (): number[] => []);
  const labels = [...byLabel.keys()].sort((a, b) => a - b);
  // Documents come in the order of their hashes: within a label they are dealt as by chance.
  for (const [at, group] of labels.flatMap((label) => byLabel.get(label) ?? []).entries())
    folds[at % count]?.push(...group);
  return folds.map((fold) => fold.sort((a, b) => a - b));
}

/** Rows of all folds but some, in order. */
export function membersWithout(folds: readonly (readonly number[])[], ...left: readonly number[]): number[] {
  return folds.flatMap((fold, at) => (left.includes(at) ? [] : fold)).sort((a, b) => a - b);
}
