// Figures as cells of a table for a terminal.

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

/** Three decimals; a figure of nothing is a dash. */
export function formatFigure(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(3);
}
