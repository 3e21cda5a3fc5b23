// Door of cost, for time: how long work will take, before it runs: amounts of work by kind, times what a unit of that kind has
// taken so far. One per model. Calibrated by the golden cases at load, corrected by every finished task. Pure.

/**
 * What a task is made of: `task`: what every task takes; `encode`: the tokens of runs over texts, and `mix`: their
 * attention to each other; `join`: keys and values put side by side; `answer`: the tokens of questions, and `attend`: their
 * attention to the document; `text`: what every embedded text takes.
 */
const KINDS = ['task', 'encode', 'mix', 'join', 'answer', 'attend', 'text'] as const;

export type WorkKind = (typeof KINDS)[number];

/** Milliseconds by the formulas of work-size.ts; kinds that do not occur are left out. */
export type Work = Readonly<Partial<Record<WorkKind, number>>>;

/** One finished task. */
export interface Measurement {
  readonly work: Work;
  readonly wallMs: number;
}

/** What an older measurement still weighs after a newer one: about twenty are remembered. */
const MEMORY = 0.95;
/**
 * What the formulas alone weigh against measurements, always: nothing beside runs, but it holds those kinds in place that
 * are a small constant of every task and could soak up the noise of all others.
 */
const PRIOR_MS = 5;
/** A run that took longer than this many times its estimate met something else than its own work. */
const MOST_SURPRISE = 4;
/** Passes over the few cases of a load until time is laid to the right kinds. */
const CALIBRATION_PASSES = 30;

interface FadingSums {
  formulaMs: number;
  wallMs: number;
}

export class CostModel {
  readonly #sums: Partial<Record<WorkKind, FadingSums>> = {};

  /** Expected time on one worker. */
  estimateMs(work: Work): number {
    let totalMs = 0;
    for (const kind of KINDS) {
      const formulaMs = work[kind];
      if (formulaMs !== undefined) totalMs += formulaMs * this.#slownessOf(kind);
    }
    return totalMs;
  }

  /** Cases that ran before there was work. Several passes, because each case is a mixture of kinds. */
  calibrate(cases: readonly Measurement[]): void {
    for (let pass = 0; pass < CALIBRATION_PASSES; pass++) for (const each of cases) this.#learn(each, Infinity);
  }

  /** Nothing is learned of work whose time is not known. */
  observe({ work, wallMs }: { readonly work: Work; readonly wallMs: number | undefined }): void {
    if (wallMs !== undefined) this.#learn({ work, wallMs }, MOST_SURPRISE);
  }

  /**
   * Lays the measured time to the kinds in the proportion that was expected of them, so that each measurement corrects
   * most what it consists of; repeated, this finds the most likely factors and never a negative one (Richardson-Lucy).
   */
  #learn({ work, wallMs }: Measurement, mostSurprise: number): void {
    const expectedMs = this.estimateMs(work);
    if (expectedMs <= 0) return;
    const surprise = Math.min(mostSurprise, wallMs / expectedMs);
    for (const kind of KINDS) {
      const formulaMs = work[kind];
      if (formulaMs === undefined) continue;
      const laidMs = formulaMs * this.#slownessOf(kind) * surprise;
      const sums = this.#sums[kind] ?? { formulaMs: 0, wallMs: 0 };
      sums.formulaMs = MEMORY * sums.formulaMs + formulaMs;
      sums.wallMs = MEMORY * sums.wallMs + laidMs;
      this.#sums[kind] = sums;
    }
  }

  /** Measured time ÷ formula: holds the model's size, the host's speed and its other load. */
  #slownessOf(kind: WorkKind): number {
    const sums = this.#sums[kind];
    return sums === undefined ? 1 : (PRIOR_MS + sums.wallMs) / (PRIOR_MS + sums.formulaMs);
  }
}

/** Work of several tasks, or of the parts of one, together. */
export function addWork(works: readonly Work[]): Work {
  const total: Partial<Record<WorkKind, number>> = {};
  for (const work of works) {
    for (const kind of KINDS) {
      const ms = work[kind];
      if (ms !== undefined) total[kind] = (total[kind] ?? 0) + ms;
    }
  }
  return total;
}
