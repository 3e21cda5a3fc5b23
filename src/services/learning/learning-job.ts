// One learning of a model, from its order to its end, as operators see it. No text of anybody: questions and options by
// their hashes, rows by their places. Types alone.

import type { LearnedFigures, MeanAndSpread } from '../../domain/learned-figures.ts';
import type { QuestionType } from '../../domain/question.ts';

/** `cancelled`: an administrator ended it. In each state but `succeeded` the model that was there is still the model. */
export type LearningState = 'running' | 'succeeded' | 'failed' | 'cancelled';

/** `starting`: the base is being loaded; `reading`: documents become vectors; `fitting`: heads; `writing`: the folder. */
export type LearningStep = 'starting' | 'reading' | 'fitting' | 'writing';

export interface LearningProgress {
  readonly step: LearningStep;
  /** Of the step. */
  readonly done: number;
  /** 0: not known yet. */
  readonly total: number;
}

/** Why a learning failed. Codes are never renamed. */
export const LEARNING_FAULTS = {
  invalid_rows: 'The rows are no rows to learn from; the message says which.',
  nothing_gained: 'No question is answered better than without it. The report has the figures.',
  too_many_rows: 'With those learned earlier there are more rows than one model is learned from.',
  base_changed: 'The base is not the one that the earlier rows were read by.',
  unusable_base: 'The base is no model that can be learned from.',
  model_taken: 'Another model has this id.',
  model_missing: 'The model to which rows are to be added is gone.',
  model_busy: 'Another process is at work on this model.',
  cannot_start:
    'The base cannot be loaded, or the model not be written: no memory, no room on the disk, a broken folder.',
  store_unavailable: 'What is to be changed could not be written to the audit trail.',
  interrupted: 'The server was stopped, or ended, before it was done.',
  process_lost: 'The process that learned has ended unexpectedly.',
  not_served: 'It was written, but this server could not take it in; the next start tries again.',
  internal_error: 'A fault of the server. Its log has more.',
} as const;

export type LearningFault = keyof typeof LEARNING_FAULTS;

export interface LearningError {
  readonly code: LearningFault;
  readonly message: string;
}

/** A row that cannot be read by the base, and why. */
export interface SkippedRow {
  /** Place in the request, from 0. */
  readonly row: number;
  readonly reason: string;
}

export interface ReportedOption {
  /** SHA-256 hex of the option. */
  readonly hash: string;
  /** A row of several options counts in each by its share. */
  readonly rows: number;
  /** So few that the base alone decides. */
  readonly isScarce: boolean;
}

export interface ReportedPoint {
  readonly rowsPerOption: number;
  readonly rows: number;
  /** On rows that nothing was fitted on. */
  readonly accuracy: MeanAndSpread;
}

/** A row that the others contradict most confidently. Options are places in the list of the question. */
export interface ReportedSuspect {
  readonly row: number;
  readonly labelled: number;
  readonly likelier: number;
  readonly probability: number;
}

export type LearningVerdict = 'learned' | 'no_gain' | 'too_few_rows' | 'one_option_only';

export interface ReportedQuestion {
  readonly type: QuestionType;
  /** SHA-256 hex of type and instructions; noul and score: criteria too. */
  readonly asked: string;
  /** Place in the request of the first row that asks it; null: only rows of earlier requests do. */
  readonly firstRow: number | null;
  readonly verdict: LearningVerdict;
  readonly rows: number;
  /** Documents that differ. */
  readonly documents: number;
  /** Of a choice in the order of their hashes; levels in order; false, then true. */
  readonly options: readonly ReportedOption[];
  /** null: too few rows to measure. */
  readonly figures: LearnedFigures | null;
  readonly curve: readonly ReportedPoint[];
  /** null: it cannot be said. */
  readonly wouldMoreHelp: boolean | null;
  /** Rows of one document that differ in what is right. */
  readonly contradictions: readonly (readonly number[])[];
  readonly suspects: readonly ReportedSuspect[];
}

export interface LearningReport {
  readonly skipped: readonly SkippedRow[];
  readonly questions: readonly ReportedQuestion[];
}

export interface LearningJob {
  /** `learn_…` */
  readonly id: string;
  readonly modelId: string;
  /** null: that of the model to which rows are added. */
  readonly base: string | null;
  readonly usesEmbedder: boolean;
  /** Whether its rows were added to those of the model. */
  readonly addsRows: boolean;
  /** Of the request. */
  readonly rows: number;
  readonly state: LearningState;
  readonly progress: LearningProgress;
  readonly startedAtMs: number;
  /** Id of a key. */
  readonly startedBy: string;
  /** null: it is under way. */
  readonly endedAtMs: number | null;
  /** Of the model that was there when it began; null: there was none. */
  readonly digestBefore: string | null;
  /** Of what it made; null: nothing was written. */
  readonly digest: string | null;
  readonly error: LearningError | null;
  /** Comes before anything is written. */
  readonly report: LearningReport | null;
}
