// Which penalty a head is fitted with, at which temperature it answers, and whether it is worth more than zero-shot: all by
// the loss on rows that were held out.

import type { FittedHead, HeadFitter, Penalty } from './fit-head.ts';
import type { FitRows } from './fit-rows.ts';
import { lossOfRows, predictInto, temperatureOfRows, zeroShotLogits } from './predict-rows.ts';

/** Strongest first: each fit begins where the one before ended. */
export const STRENGTHS = [1, 0.3, 0.1] as const;
/** What few rows are best fitted with; rows must say clearly that another one is better. */
const USUAL_STRENGTH = 0.3;
const STRENGTH_PENALTY = 0.5;
/** Per row, of fits that are only compared. */
export const COARSE_GAIN = 3e-4;
/** Per row, of a fit that is kept. */
export const FINE_GAIN = 1e-18;

export function penaltyOf(strength: number): Penalty {
  return { weights: strength, biases: 0.1, offset: 10 };
}

/** `[strengths]` of heads fitted to the same rows. */
export async function fitPath(fitter: HeadFitter, members: readonly number[]): Promise<FittedHead[]> {
  const heads: FittedHead[] = [];
  for (const strength of STRENGTHS) {
    heads.push(await fitter.fit(members, penaltyOf(strength), { gain: COARSE_GAIN, start: heads.at(-1) }));
  }
  return heads;
}

/** `[strengths]` of logits, for rows that heads are asked for one after the other. */
export class PathLogits {
  readonly #rows: FitRows;
  readonly logits: readonly Float64Array[];

  constructor(rows: FitRows) {
    this.#rows = rows;
    this.logits = STRENGTHS.map(() => new Float64Array(rows.rows.length * rows.options));
  }

  predict(path: readonly FittedHead[], members: readonly number[], newOption: number): void {
    for (const [at, head] of path.entries()) {
      const into = this.logits[at];
      if (into !== undefined) predictInto(into, { rows: this.#rows, members }, head, newOption);
    }
  }
}

export interface PenaltyChoice {
  /** Place in `STRENGTHS`. */
  readonly at: number;
  readonly strength: number;
  readonly temperature: number;
  /** Whether the head is better than zero-shot, before its temperature helps: where that is near, zero-shot is safer. */
  readonly isGain: boolean;
}

/** @param held logits of these rows, by heads that were not fitted on them */
export function choosePenalty(rows: FitRows, held: PathLogits, members: readonly number[]): PenaltyChoice {
  const losses = held.logits.map((logits, at) => {
    const distance = Math.log((STRENGTHS[at] ?? 1) / USUAL_STRENGTH);
    return lossOfRows(rows, logits, members) + STRENGTH_PENALTY * distance * distance;
  });
  const at = losses.reduce((best, loss, i) => (loss < (losses[best] ?? 0) ? i : best), 0);
  const logits = held.logits[at] ?? new Float64Array();
  const temperature = temperatureOfRows(rows, logits, members);
  const zeroShot = lossOfRows(rows, zeroShotLogits(rows), members);
  return { at, strength: STRENGTHS[at] ?? USUAL_STRENGTH, temperature, isGain: (losses[at] ?? zeroShot) < zeroShot };
}
