// Door of cost: how long work will take, before it runs: amounts of work by kind, times what a unit of that kind has
// taken so far. One per model. Calibrated by the golden cases at load, corrected by every finished task. Pure.

/**
 * What a task is made of: `task`: what every task takes; `encode`: runs over windows of a document; `join`: keys and values
 * put side by side; `answer`: the tokens of questions, and `attend`: their attention to the document; `text`: what every
 * embedded text takes, and `embed`: its run.
 */
export type WorkKind = 'task' | 'encode' | 'join' | 'answer' | 'attend' | 'text' | 'embed';

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
  private readonly sums = new Map<WorkKind, FadingSums>();

  /** Expected time on one worker. */
  estimateMs(work: Work): number {
    let totalMs = 0;
    for (const [kind, formulaMs] of entriesOf(work)) totalMs += formulaMs * this.slownessOf(kind);
    return totalMs;
  }

  /** Cases that ran before there was work. Several passes, because each case is a mixture of kinds. */
  calibrate(cases: readonly Measurement[]): void {
    for (let pass = 0; pass < CALIBRATION_PASSES; pass++) for (const each of cases) this.learn(each, Infinity);
  }

  observe(measurement: Measurement): void {
    this.learn(measurement, MOST_SURPRISE);
  }

  /**
   * Lays the measured time to the kinds in the proportion that was expected of them, so that each measurement corrects
   * most what it consists of; repeated, this finds the most likely factors and never a negative one (Richardson-Lucy).
   */
  private learn({ work, wallMs }: Measurement, mostSurprise: number): void {
    const expectedMs = this.estimateMs(work);
    if (expectedMs <= 0) return;
    const surprise = Math.min(mostSurprise, wallMs / expectedMs);
    for (const [kind, formulaMs] of entriesOf(work)) {
      const laidMs = formulaMs * this.slownessOf(kind) * surprise;
      const sums = this.sums.get(kind) ?? { formulaMs: 0, wallMs: 0 };
      this.sums.set(kind, {
        formulaMs: MEMORY * sums.formulaMs + formulaMs,
        wallMs: MEMORY * sums.wallMs + laidMs,
      });
    }
  }

  /** Measured time ÷ formula: holds the model's size, the host's speed and its other load. */
  private slownessOf(kind: WorkKind): number {
    const { formulaMs, wallMs } = this.sums.get(kind) ?? { formulaMs: 0, wallMs: 0 };
    return (PRIOR_MS + wallMs) / (PRIOR_MS + formulaMs);
  }
}

function entriesOf(work: Work): [WorkKind, number][] {
  return Object.entries(work) as [WorkKind, number][];
}

/** Work of several tasks, or of the parts of one, together. */
export function addWork(works: readonly Work[]): Work {
  const total: Partial<Record<WorkKind, number>> = {};
  for (const work of works) for (const [kind, ms] of entriesOf(work)) total[kind] = (total[kind] ?? 0) + ms;
  return total;
}
