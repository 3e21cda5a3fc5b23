// Figures as cells of a table for a terminal, and as JSON.

import type { Figures } from '../quality/figures.ts';

export const FIGURE_HEADINGS = [
  'ANSWERS',
  'ACCURACY',
  'MACRO-F1',
  'NLL',
  'ECE',
  'ANSWERED AT 5 % ERROR',
  'FROM PROBABILITY',
] as const;

/** In the order of the headings. */
export function figureCells({ questions, accuracy, macroF1, nll, ece, answeredAt5, thresholdAt5 }: Figures): string[] {
  return [String(questions), ...[accuracy, macroF1, nll, ece, answeredAt5, thresholdAt5].map(formatFigure)];
}

/** What is a figure of nothing is null. */
export function figuresToJson(figures: Figures): object {
  const { questions, accuracy, macroF1, nll, ece, answeredAt5, thresholdAt5 } = figures;
  return {
    answers: questions,
    accuracy,
    macro_f1: macroF1,
    nll,
    ece,
    answered_at_5: answeredAt5,
    threshold_at_5: thresholdAt5,
  };
}

/** Three decimals; a figure of nothing is a dash. */
export function formatFigure(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(3);
}
