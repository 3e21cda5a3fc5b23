// Accuracy by a number: length of the document, number of options. Pure; the intervals of
// models/training/umpire_training/breakdown.py, and more for long documents.

import { argmax } from '../domain/answer.ts';
import { mean } from './figures.ts';
import { goldOf, type LabelledAnswer } from './labelled-answer.ts';

export interface BreakdownRow {
  /** `33–64`, `over 512` */
  readonly interval: string;
  readonly questions: number;
  readonly accuracy: number;
}

/** Upper ends; beyond the last the interval is open. */
const STATE_TOKENS = [32, 64, 128, 256, 512, 1024, 2048];
const OPTIONS = [2, 5, 10, 32];

/** By tokens of the document, short to long; intervals without questions are left out. */
export function accuracyByStateTokens(answers: readonly LabelledAnswer[]): BreakdownRow[] {
  return accuracyBy(answers, ({ stateTokens }) => stateTokens, STATE_TOKENS);
}

/** By number of options, few to many; intervals without questions are left out. */
export function accuracyByOptions(answers: readonly LabelledAnswer[]): BreakdownRow[] {
  return accuracyBy(answers, ({ logits }) => logits.length, OPTIONS);
}

function accuracyBy(
  answers: readonly LabelledAnswer[],
  measure: (answer: LabelledAnswer) => number,
  ends: readonly number[],
): BreakdownRow[] {
  const sorted = answers.toSorted((a, b) => measure(a) - measure(b));
  const groups = Map.groupBy(sorted, (answer) => intervalOf(measure(answer), ends));
  return [...groups].map(([interval, group]) => ({
    interval,
    questions: group.length,
    accuracy: mean(group.map((answer) => (argmax(answer.logits) === goldOf(answer) ? 1 : 0))),
  }));
}

function intervalOf(value: number, ends: readonly number[]): string {
  let lower = 1;
  for (const end of ends) {
    if (value <= end) return lower < end ? `${lower}–${end}` : String(end);
    lower = end + 1;
  }
  return `over ${lower - 1}`;
}
