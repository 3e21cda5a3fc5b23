// What a question would have been worth with fewer rows, and so whether more would help.

import { COARSE_GAIN, penaltyOf } from './choose-penalty.ts';
import type { FoldedRows, Judgement } from './cross-validate.ts';
import type { HeadFitter } from './fit-head.ts';
import { membersWithout } from './folds.ts';
import { measureRows } from './judge-rows.ts';
import { predictInto, probabilitiesOfRow } from './predict-rows.ts';
import type { CurvePoint } from './question-report.ts';

const FEWEST_ROWS = 8;
/** Accuracy from the point before to the last, above which more rows would help. */
const LEAST_RISE = 0.01;
/** The same of the loss, as a share. */
const LEAST_FALL = 0.03;

/** 8, 16, 32, … rows per option, as long as fewer than there are; then all of them, as they were judged. */
export async function drawCurve(
  folded: FoldedRows,
  fitter: HeadFitter,
  { choice, byHead }: Judgement,
): Promise<CurvePoint[]> {
  const { rows, folds, newOption } = folded;
  const { options } = rows;
  const fitted = Math.min(...folds.map((_, fold) => membersWithout(folds, fold).length));
  const points: CurvePoint[] = [];
  for (let rowsPerOption = FEWEST_ROWS; rowsPerOption * options < fitted; rowsPerOption *= 2) {
    const logits = new Float64Array(rows.rows.length * options);
    for (const [fold, held] of folds.entries()) {
      // Rows are sorted by hash: the first of them are as good as drawn.
      const members = membersWithout(folds, fold).slice(0, rowsPerOption * options);
      const head = await fitter.fit(members, penaltyOf(choice.strength), { gain: COARSE_GAIN });
      predictInto(logits, { rows, members: held }, head, newOption);
    }
    const probabilities = rows.rows.map((_, row) => probabilitiesOfRow(rows, logits, row, choice.temperature));
    const { accuracy, nll } = measureRows(rows, probabilities, folds);
    points.push({ rowsPerOption, rows: rowsPerOption * options, accuracy, nll });
  }
  const { accuracy, nll } = measureRows(rows, byHead, folds);
  return [...points, { rowsPerOption: fitted / options, rows: fitted, accuracy, nll }];
}

export function doesCurveRise(curve: readonly CurvePoint[]): boolean | undefined {
  const [before, last] = curve.slice(-2);
  if (before === undefined || last === undefined) return undefined;
  const rise = last.accuracy.mean - before.accuracy.mean;
  return rise > LEAST_RISE || last.nll.mean < (1 - LEAST_FALL) * before.nll.mean;
}
