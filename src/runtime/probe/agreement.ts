// How far the answers of two precisions of one model are from each other, and how far they may be. A quantized graph that
// passes is the same model; others found on hubs are at chance.

import { cosineOf } from '../model-folder/golden.ts';
import type { ProbeAgreement } from '../model-folder/manifest.ts';
import type { ProbeAnswer } from './probe-messages.ts';

const LEAST_COSINE = 0.99;
const LARGEST_SHIFT = 0.05;
/** Where the best was ahead by more, it must stay the best. */
const CLEAR_MARGIN = 0.1;

export interface Comparison {
  readonly figures: ProbeAgreement;
  /** undefined: they agree. */
  readonly fault: string | undefined;
}

/** @param reference answers of the graph in full precision, to the same cases in the same order */
export function compareAnswers(
  reference: readonly ProbeAnswer[],
  answers: readonly ProbeAnswer[],
  kind: 'vectors' | 'probabilities',
): Comparison {
  const pairs = reference.flatMap(({ values }, place) =>
    values.map((value, at) => [value, answers[place]?.values[at] ?? []] as const),
  );
  const rows = pairs.length;
  if (kind === 'vectors') {
    const cosine = pairs.reduce((least, [a, b]) => leastOf(least, cosineOf(a, b)), 1);
    const fault =
      cosine >= LEAST_COSINE ? undefined : `a vector has cosine ${cosine.toFixed(4)}; ${LEAST_COSINE} is due`;
    return { figures: { rows, least_cosine: cosine }, fault };
  }
  const shift = pairs.reduce((most, [a, b]) => Math.max(most, shiftOf(a, b)), 0);
  const figures = { rows, largest_shift: shift };
  const turned = pairs.filter(([a, b]) => marginOf(a) > CLEAR_MARGIN && bestOf(a) !== bestOf(b)).length;
  if (turned > 0) return { figures, fault: `${turned} of ${rows} clear answers are others` };
  if (shift <= LARGEST_SHIFT) return { figures, fault: undefined };
  return { figures, fault: `a probability is off by ${shift.toFixed(4)}; ${LARGEST_SHIFT} is allowed` };
}

/** @returns which answers hold what is no number; undefined: none */
export function findBrokenNumber(answers: readonly ProbeAnswer[]): string | undefined {
  const broken = answers.filter(({ values }) =>
    values.some((value) => value.length === 0 || !value.every(Number.isFinite)),
  );
  return broken.length === 0
    ? undefined
    : `${broken.length} of ${answers.length} answers are no numbers (NaN or infinite)`;
}

/** NaN is the least of all. */
function leastOf(least: number, cosine: number): number {
  return Number.isNaN(cosine) ? -1 : Math.min(least, cosine);
}

function shiftOf(a: readonly number[], b: readonly number[]): number {
  const shifts = a.map((value, place) => Math.abs(value - (b[place] ?? Number.NaN)));
  return shifts.some(Number.isNaN) ? 1 : Math.max(0, ...shifts);
}

function bestOf(values: readonly number[]): number {
  return values.indexOf(Math.max(...values));
}

function marginOf(values: readonly number[]): number {
  const [best = 0, second = Number.NEGATIVE_INFINITY] = values.toSorted((a, b) => b - a);
  return best - second;
}
