// Nested cross-validation of one question. Every prediction of a row comes from heads, a penalty and a temperature that were
// fitted and chosen without any row of its fold.

import { choosePenalty, fitPath, PathLogits, type PenaltyChoice } from './choose-penalty.ts';
import type { HeadFitter } from './fit-head.ts';
import type { FitRows } from './fit-rows.ts';
import { membersWithout } from './folds.ts';
import { probabilitiesOfRow, zeroShotLogits } from './predict-rows.ts';

export interface Judgement {
  /** Of the head that is fitted on all rows. */
  readonly choice: PenaltyChoice;
  /** `[rows][options]`: of rows that were held out; zero-shot where that seemed better. */
  readonly learned: readonly (readonly number[])[];
  /** `[rows][options]` */
  readonly zeroShot: readonly (readonly number[])[];
  /** `[rows][options]`: of the head alone, whatever seemed better. */
  readonly byHead: readonly (readonly number[])[];
}

/** What was held out once: enough to choose by, not to judge by. */
export async function chooseByFolds(
  { rows, folds, newOption }: FoldedRows,
  fitter: HeadFitter,
  onFit: () => void,
): Promise<{ choice: PenaltyChoice; held: PathLogits }> {
  const held = new PathLogits(rows);
  for (const [fold, members] of folds.entries()) {
    held.predict(await fitPath(fitter, membersWithout(folds, fold)), members, newOption);
    onFit();
  }
  return { choice: choosePenalty(rows, held, [...rows.rows.keys()]), held };
}

export interface FoldedRows {
  readonly rows: FitRows;
  /** `[folds][rows]` */
  readonly folds: readonly (readonly number[])[];
  readonly newOption: number;
}

/** Of both: folds, and pairs of folds. */
export function countFits(folds: number): number {
  return folds + (folds * (folds - 1)) / 2;
}

export async function crossValidate(folded: FoldedRows, fitter: HeadFitter, onFit: () => void): Promise<Judgement> {
  const { rows, folds, newOption } = folded;
  const { choice, held } = await chooseByFolds(folded, fitter, onFit);
  // Heads without two folds serve both: the choice for either is made on the other.
  const inner = folds.map(() => new PathLogits(rows));
  for (const [first, members] of folds.entries()) {
    for (let second = 0; second < first; second++) {
      const path = await fitPath(fitter, membersWithout(folds, first, second));
      inner[second]?.predict(path, members, newOption);
      inner[first]?.predict(path, folds[second] ?? [], newOption);
      onFit();
    }
  }
  const base = zeroShotLogits(rows);
  const zeroShot = rows.rows.map((_, row) => probabilitiesOfRow(rows, base, row, 1));
  const learned = zeroShot.map((probabilities) => probabilities);
  const byHead = zeroShot.map((probabilities) => probabilities);
  for (const [fold, members] of folds.entries()) {
    const { at, temperature, isGain } = choosePenalty(rows, inner[fold] ?? held, membersWithout(folds, fold));
    for (const row of members) {
      const probabilities = probabilitiesOfRow(rows, held.logits[at] ?? base, row, temperature);
      byHead[row] = probabilities;
      if (isGain) learned[row] = probabilities;
    }
  }
  return { choice, learned, zeroShot, byHead };
}
