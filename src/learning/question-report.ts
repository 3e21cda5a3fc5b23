// What learning one question found, as plain data: options by their places in the frozen question, rows by their lines.

import type { LearnedFigures, MeanAndSpread } from '../domain/learned-figures.ts';
import type { QuestionType } from '../domain/question.ts';
import type { LearnedQuestion } from './learned-model.ts';

/** Why there is a head, or none: zero-shot answers then. */
export type LearnVerdict = 'learned' | 'no gain' | 'too few rows' | 'one option only';

export interface CurvePoint {
  /** Rows per option at most that heads were fitted on. */
  readonly rowsPerOption: number;
  /** Of all options. */
  readonly rows: number;
  /** On rows that nothing was fitted on. */
  readonly accuracy: MeanAndSpread;
  /** Mean negative log-likelihood, in nats. */
  readonly nll: MeanAndSpread;
}

/** A row whose label the rest of the rows contradicts most confidently. */
export interface SuspectRow {
  readonly line: number;
  readonly state: string;
  /** Place of the option that the row says is right. */
  readonly labelled: number;
  /** Place of the option that a head of the other rows gives. */
  readonly likelier: number;
  /** Of the likelier option. */
  readonly probability: number;
}

/** Rows of one document that say different options are right. Each counts by its share. */
export interface Contradiction {
  readonly state: string;
  readonly lines: readonly number[];
  /** Places of the options that they name. */
  readonly labelled: readonly number[];
}

export interface QuestionReport {
  readonly type: QuestionType;
  readonly asked: string;
  readonly options: readonly string[];
  readonly verdict: LearnVerdict;
  /** Only where the verdict is `learned`. */
  readonly learned: LearnedQuestion | undefined;
  readonly rows: number;
  /** `[options]`; a row of several options counts in each by its share. */
  readonly rowsOfOptions: readonly number[];
  /** Documents that differ. */
  readonly states: number;
  /** From nested cross-validation; undefined where there were too few rows for one. */
  readonly figures: LearnedFigures | undefined;
  /** By rows per option, fewest first; empty where there are too few rows. */
  readonly curve: readonly CurvePoint[];
  /** Whether the learning curve still rises; undefined: it has too few points to say. */
  readonly wouldMoreHelp: boolean | undefined;
  /** Places of options with so few rows that zero-shot says nearly all about them. */
  readonly scarceOptions: readonly number[];
  readonly contradictions: readonly Contradiction[];
  /** Most confidently contradicted first. */
  readonly suspects: readonly SuspectRow[];
}
