// Fits a head to the rows of a draw by the code that `umpire learn` runs, and answers the others by the code that the
// server runs.

import { sum } from '../../../src/domain/sum.ts';
import { answerLearned } from '../../../src/learning/answer-learned.ts';
import type { FrozenQuestion, FrozenRow } from '../../../src/learning/frozen-rows.ts';
import { fitQuestion } from '../../../src/learning/learn.ts';
import type { Head } from '../../../src/learning/learned-model.ts';
import type { LabelledAnswer } from '../../../src/quality/labelled-answer.ts';
import type { FrozenTask } from './frozen-tasks.ts';

/** What answers the rows of a draw. */
export const ANSWERERS = ['zeroShot', 'learned', 'learnedWithEmbedder', 'plain'] as const;
export type Answerer = (typeof ANSWERERS)[number];

export interface TestAnswers {
  /** `[rows][options]` */
  readonly probabilities: readonly (readonly number[])[];
  /** Whether the head was better than zero-shot on the rows it was fitted on; without one, zero-shot answers. */
  readonly isHead: boolean;
}

interface Split {
  readonly training: readonly FrozenRow[];
  readonly test: readonly FrozenRow[];
}

export async function answerTestRows(
  { frozen, parts }: FrozenTask,
  split: Split,
): Promise<Record<Answerer, TestAnswers>> {
  const base = parts.slice(0, -1);
  const ofBase = sum(base);
  const ofPart = (from: number, to?: number) =>
    mapRows(split, (row) => ({ ...row, vector: row.vector.slice(from, to) }));
  // The same odds for every option are nothing to a head: what is left is multinomial logistic regression.
  const flat = mapRows(ofPart(ofBase), (row) => ({
    ...row,
    zeroShot: row.zeroShot.map(() => 1 / row.zeroShot.length),
  }));
  const zeroShot = split.test.map((row) => row.zeroShot);
  return {
    zeroShot: { probabilities: zeroShot, isHead: false },
    learned: await learnAndAnswer(frozen, ofPart(0, ofBase), { parts: base }),
    learnedWithEmbedder: await learnAndAnswer(frozen, split, { parts }),
    plain: await learnAndAnswer(frozen, flat, { parts: parts.slice(-1), isAlwaysHead: true }),
  };
}

function mapRows({ training, test }: Split, change: (row: FrozenRow) => FrozenRow): Split {
  return { training: training.map(change), test: test.map(change) };
}

interface LearnOptions {
  readonly parts: readonly number[];
  /** Even where zero-shot seems better. */
  readonly isAlwaysHead?: boolean;
}

export async function learnAndAnswer(
  question: FrozenQuestion,
  { training, test }: Split,
  { parts, isAlwaysHead = false }: LearnOptions,
): Promise<TestAnswers> {
  const fitted = await fitQuestion({ ...question, rows: training }, { parts });
  if (fitted === undefined || !(fitted.isGain || isAlwaysHead))
    return { probabilities: test.map(({ zeroShot }) => zeroShot), isHead: false };
  const answer = answerWith({ ...question, rows: training }, fitted.head, question);
  return { probabilities: test.map((row) => answer(row)), isHead: true };
}

/**
 * Options that no row names are answered as new ones, as in a learned model.
 * @param question what the head was fitted on
 * @param request its options, maybe more of them
 */
export function answerWith(
  { type, asked, options, rows }: FrozenQuestion,
  head: Head,
  request: { readonly options: readonly string[] },
): (row: FrozenRow) => number[] {
  const rowsOfOptions = options.map((_, k) => rows.reduce((sum, { target }) => sum + (target[k] ?? 0), 0));
  const isKnown = (place: number) => type !== 'choice' || (rowsOfOptions[place] ?? 0) > 0;
  const places = request.options.map((option) => {
    const place = options.indexOf(option);
    return place >= 0 && isKnown(place) ? place : -1;
  });
  const learned = { type, asked, options, head, rows: rowsOfOptions, figures: UNKNOWN_FIGURES };
  const match = { learned, order: request.options.map((_, place) => place), places };
  return ({ zeroShot, vector }) => answerLearned(match, zeroShot, vector);
}

const NO_FIGURE = { mean: Number.NaN, spread: Number.NaN };
const NO_FIGURES = { accuracy: NO_FIGURE, macroF1: NO_FIGURE, ece: NO_FIGURE, answeredAt5: NO_FIGURE };
/** Judged on rows of our own. */
const UNKNOWN_FIGURES = { zeroShot: NO_FIGURES, learned: NO_FIGURES };

export function toAnswers(
  task: string,
  { type, options }: FrozenQuestion,
  test: readonly FrozenRow[],
): LabelledAnswer[] {
  const names = options.map((_, place) => String(place));
  return test.map(({ line, target }) => ({ task, row: line, type, logits: [], target, names, stateTokens: 0 }));
}
