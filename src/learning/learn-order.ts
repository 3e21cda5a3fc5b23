// What is asked of a learning, and what it tells, as plain data: it may run in another process.

import type { ModelReference } from '../domain/model-card.ts';
import type { RowRefusal } from '../quality/asking.ts';
import type { LabelledRow } from '../quality/labelled-row.ts';
import type { QuestionReport } from './question-report.ts';

export interface LearnOrder {
  /** Of the model that is made. */
  readonly id: string;
  /** Id or folder of a decision model. Default: that of the model rows are added to, else the shipped one. */
  readonly base?: string | undefined;
  /** Whether the shipped embedder's vector is joined to the base's. A base that gives none has it anyway. */
  readonly usesEmbedder: boolean;
  readonly rows: readonly LabelledRow[];
  /** To those that the model was learned from. */
  readonly addsRows: boolean;
  /** Options that had another name in the rows learned earlier. */
  readonly renames: readonly OptionRename[];
  /** Whether a learned model that has the id already gives way. */
  readonly replaces: boolean;
  /** Report, and write nothing. */
  readonly isTrial: boolean;
}

export interface OptionRename {
  readonly from: string;
  readonly to: string;
}

export type LearnNews =
  | {
      readonly kind: 'step';
      readonly step: 'starting' | 'reading' | 'fitting' | 'writing';
      /** Documents that were read, or heads that were fitted. */
      readonly done: number;
      readonly total: number;
    }
  | { readonly kind: 'warning'; readonly text: string };

/** Of one question that the rows ask. Texts of the caller: `name` and `optionNames` alone. */
export interface QuestionFindings extends Omit<QuestionReport, 'learned'> {
  /** As the first of its rows calls it. */
  readonly name: string;
  /** `[options]`; noul: false, true; score: numbers of the levels. */
  readonly optionNames: readonly string[];
  /** Of its rows those that were learned earlier. */
  readonly earlierRows: number;
}

export interface LearnReport {
  readonly id: string;
  readonly base: ModelReference;
  readonly embedder: ModelReference | undefined;
  /** Of the file, without those that were left out. */
  readonly rows: number;
  /** Rows that the base cannot read, and why. */
  readonly leftOut: readonly RowRefusal[];
  /** Answers learned earlier that rows of the file replace: the same document, the same question. */
  readonly replacedAnswers: number;
  /** Those that the rows ask, in the order of the rows. */
  readonly questions: readonly QuestionFindings[];
  /** Questions of the model that no row of the file asks: they stay. */
  readonly untouched: number;
}

export interface LearnOutcome {
  readonly report: LearnReport;
  /** undefined: a trial, or no question gains. */
  readonly written: { readonly folder: string; readonly digest: string } | undefined;
}

/** Answers of one model, those learned earlier included. */
export const MOST_ANSWERS = 50_000;
