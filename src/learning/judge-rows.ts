// Figures of held-out probabilities, rows whose labels they contradict, and documents that were labelled twice. Pure.

import { argmax } from '../domain/answer.ts';
import type { MeanAndSpread, MeasuredFigures } from '../domain/learned-figures.ts';
import { type Figures, figuresOf, mean } from '../quality/figures.ts';
import type { LabelledAnswer } from '../quality/labelled-answer.ts';
import type { FitRows } from './fit-rows.ts';
import type { Contradiction, SuspectRow } from './question-report.ts';

/** @param probabilities `[rows][options]` @param folds `[folds][rows]` */
export function measureRows(
  rows: FitRows,
  probabilities: readonly (readonly number[])[],
  folds: readonly (readonly number[])[],
): MeasuredFigures & { readonly nll: MeanAndSpread } {
  const answers = rows.rows.map((_, row) => toAnswerOfRow(rows, row));
  const measure = (members: readonly number[]): Figures => {
    const own = members.flatMap((row) => answers[row] ?? []);
    return figuresOf(
      own,
      members.map((row) => probabilities[row] ?? []),
    );
  };
  const all = measure(folds.flat());
  const each = folds.filter((fold) => fold.length > 0).map(measure);
  const figure = (name: 'accuracy' | 'macroF1' | 'ece' | 'answeredAt5' | 'nll'): MeanAndSpread => {
    const values = each.map((figures) => figures[name]);
    const middle = mean(values);
    return { mean: all[name], spread: Math.sqrt(mean(values.map((value) => (value - middle) ** 2))) };
  };
  return {
    accuracy: figure('accuracy'),
    macroF1: figure('macroF1'),
    ece: figure('ece'),
    answeredAt5: figure('answeredAt5'),
    nll: figure('nll'),
  };
}

function toAnswerOfRow({ type, options, target }: FitRows, row: number): LabelledAnswer {
  return {
    task: '',
    row,
    type,
    logits: [],
    target: Array.from(target.subarray(row * options, (row + 1) * options)),
    names: Array.from({ length: options }, (_, k) => `${k}`),
    stateTokens: 0,
  };
}

const LEAST_SUSPICION = 0.7;
const MOST_SUSPECTS = 20;

/** @param probabilities `[rows][options]`, of heads that did not see the row */
export function findSuspects(rows: FitRows, probabilities: readonly (readonly number[])[]): SuspectRow[] {
  return rows.rows
    .flatMap(({ line, state, target }, row) => {
      const labelled = argmax(target);
      const likelier = argmax(probabilities[row] ?? []);
      const probability = probabilities[row]?.[likelier] ?? 0;
      if (labelled === likelier || probability < LEAST_SUSPICION) return [];
      return [
        { suspect: { line, state, labelled, likelier, probability }, given: probabilities[row]?.[labelled] ?? 0 },
      ];
    })
    .sort((a, b) => a.given / a.suspect.probability - b.given / b.suspect.probability)
    .slice(0, MOST_SUSPECTS)
    .map(({ suspect }) => suspect);
}

export function findContradictions({ rows }: Pick<FitRows, 'rows'>): Contradiction[] {
  return [...Map.groupBy(rows, ({ state }) => state)].flatMap(([state, same]) => {
    const labelled = [...new Set(same.map(({ target }) => argmax(target)))].sort((a, b) => a - b);
    if (labelled.length < 2) return [];
    return [{ state, lines: same.map(({ line }) => line).sort((a, b) => a - b), labelled }];
  });
}
