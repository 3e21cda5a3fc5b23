// A question beside what is right about it, before anybody has answered.

import type { Question } from '../domain/question.ts';

export interface LabelledQuestion {
  /** Its name; where a row lists its questions without names, its type. */
  readonly task: string;
  readonly question: Question;
  /** `[options]`, in the order of the question; noul: false, true; of a score its levels' numbers. */
  readonly names: readonly string[];
  /** `[options]`, sums to 1. */
  readonly target: readonly number[];
}
