// Puts the questions of labelled rows to a model and lays its answers beside what is right. How a model is asked is
// handed in; figures are measured elsewhere.

import type { Question } from '../domain/question.ts';
import { type Temperatures, temperatureOf } from '../domain/temperature.ts';
import { type LabelledAnswer, toLogits } from './labelled-answer.ts';
import type { LabelledRow } from './labelled-row.ts';

/** @returns `[questions][options]`, in the order of the questions; noul: false, true. @throws UnansweredRow */
export type Ask = (state: string, questions: readonly Question[]) => Promise<readonly (readonly number[])[]>;

/** Why a model would not answer a row: it is too long, for example. */
export class UnansweredRow extends Error {
  override readonly name = 'UnansweredRow';
}

export interface AskedModel {
  readonly ask: Ask;
  /** Those its probabilities stand after. */
  readonly temperatures: Temperatures;
  countTokens(text: string): number;
  /** Rows it is asked at the same time. */
  readonly atOnce: number;
}

export interface AnsweredRows {
  /** Those of one row follow each other. */
  readonly answers: readonly LabelledAnswer[];
  /** Rows that were not answered, and why. */
  readonly refusals: readonly RowRefusal[];
}

export interface RowRefusal {
  readonly line: number;
  readonly message: string;
}

export async function answerRows(rows: readonly LabelledRow[], model: AskedModel): Promise<AnsweredRows> {
  const answers: (readonly LabelledAnswer[])[] = [];
  const refusals: RowRefusal[] = [];
  await forEachAtOnce(rows, model.atOnce, async (row, place) => {
    try {
      answers[place] = await answerRow(row, model);
    } catch (error) {
      if (!(error instanceof UnansweredRow)) throw error;
      refusals.push({ line: row.line, message: error.message });
    }
  });
  return { answers: answers.flat(), refusals: refusals.sort((a, b) => a.line - b.line) };
}

async function answerRow({ line, state, questions }: LabelledRow, model: AskedModel): Promise<LabelledAnswer[]> {
  const probabilities = await model.ask(
    state,
    questions.map(({ question }) => question),
  );
  const stateTokens = model.countTokens(state);
  return questions.map(({ task, question: { type }, names, target }, place) => {
    const temperature = temperatureOf(model.temperatures, type, names.length);
    const logits = toLogits(probabilities[place] ?? [], type, temperature);
    return { task, row: line, type, logits, target, names, stateTokens };
  });
}

export interface OrderInstability {
  /** Questions asked again. */
  readonly questions: number;
  /** Largest change of a probability; 0 of no questions. */
  readonly largestShift: number;
}

/**
 * Asks the choices of some rows again, their options turned round and then dealt anew: nothing may change. Levels of a
 * score have an order of their own, and a noul has none.
 */
export async function measureOrderInstability(
  rows: readonly LabelledRow[],
  { ask, atOnce }: Pick<AskedModel, 'ask' | 'atOnce'>,
): Promise<OrderInstability> {
  const shifts: number[] = [];
  await forEachAtOnce(rows, atOnce, async ({ state, questions }) => {
    const choices = questions.map(({ question }) => question).filter((question) => question.type === 'choice');
    if (choices.length === 0) return;
    const wanted = await askUnlessRefused(ask, state, choices);
    for (const reorder of [turnRound, dealAnew]) {
      const orders = choices.map(({ options }) => reorder(options.map((_, place) => place)));
      const moved = choices.map((choice, at) => ({
        ...choice,
        options: (orders[at] ?? []).flatMap((place) => choice.options[place] ?? []),
      }));
      const found = await askUnlessRefused(ask, state, moved);
      if (wanted === undefined || found === undefined) return;
      for (const [at, order] of orders.entries()) {
        const differences = order.map((place, now) =>
          Math.abs((wanted[at]?.[place] ?? NaN) - (found[at]?.[now] ?? NaN)),
        );
        shifts.push(Math.max(...differences));
      }
    }
  });
  // Each question was asked again twice.
  return { questions: shifts.length / 2, largestShift: Math.max(0, ...shifts) };
}

async function askUnlessRefused(ask: Ask, state: string, questions: readonly Question[]) {
  try {
    return await ask(state, questions);
  } catch (error) {
    if (error instanceof UnansweredRow) return undefined;
    throw error;
  }
}

function turnRound(places: readonly number[]): number[] {
  return places.toReversed();
}

/** Every other one first: no option keeps its neighbours. */
function dealAnew(places: readonly number[]): number[] {
  return [...places.filter((_, at) => at % 2 === 1), ...places.filter((_, at) => at % 2 === 0)];
}

/** A bounded number under way; the first failure ends it. */
export async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  action: (item: T, place: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries();
  const work = async (): Promise<void> => {
    for (const [place, item] of rest) await action(item, place);
  };
  await Promise.all(Array.from({ length: Math.max(1, atOnce) }, work));
}
