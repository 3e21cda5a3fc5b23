// What an option without rows has in the place of a bias, so that it competes fairly: learned options are held back in turn,
// and it is what makes the answers about them likeliest.

import { COARSE_GAIN, penaltyOf, STRENGTHS } from './choose-penalty.ts';
import type { HeadFitter } from './fit-head.ts';
import type { FitRows } from './fit-rows.ts';
import { membersWithout } from './folds.ts';
import { leastPoint, lossOfRow, predictInto } from './predict-rows.ts';

const MOST_PROBES = 6;
/** What a value away from 0 must gain: half of this times its square. */
const PENALTY = 1;
const FARTHEST = 6;
const STRENGTH = STRENGTHS[2];

/** @param folds `[folds][rows]` */
export async function fitNewOption(
  rows: FitRows,
  folds: readonly (readonly number[])[],
  fitter: HeadFitter,
): Promise<number> {
  const { options, target } = rows;
  const isLabelled = (row: number, option: number): boolean => (target[row * options + option] ?? 0) > 0;
  const known = Array.from({ length: options }, (_, k) => k).filter((k) =>
    rows.rows.some((_, row) => isLabelled(row, k)),
  );
  // Without it there must be a choice left; levels and false or true have no options that could be new.
  if (rows.places !== undefined || known.length < 3) return 0;
  const probes =
    known.length <= MOST_PROBES
      ? known
      : Array.from({ length: MOST_PROBES }, (_, i) => known[Math.floor((i * known.length) / MOST_PROBES)] ?? 0);
  const judged: { logits: Float64Array; row: number; place: number }[] = [];
  for (const [at, option] of probes.entries()) {
    const fold = at % folds.length;
    const members = membersWithout(folds, fold).filter((row) => !isLabelled(row, option));
    if (members.length === 0) continue;
    const head = await fitter.fit(members, penaltyOf(STRENGTH), { gain: COARSE_GAIN, without: option });
    const held = folds[fold] ?? [];
    const logits = new Float64Array(rows.rows.length * options);
    predictInto(logits, { rows, members: held }, head, 0);
    // Options that are new only by how rows were dealt say nothing here.
    const plain = held.filter((row) =>
      head.isLearned.every((learned, k) => learned || k === option || !isLabelled(row, k)),
    );
    judged.push(...plain.map((row) => ({ logits, row, place: row * options + option })));
  }
  if (judged.length === 0) return 0;
  return leastPoint([-FARTHEST, FARTHEST], (value) => {
    let loss = (PENALTY / 2) * value * value;
    for (const { logits, row, place } of judged) {
      const before = logits[place] ?? 0;
      logits[place] = before + value;
      loss += lossOfRow(rows, logits, row);
      logits[place] = before;
    }
    return loss;
  });
}
