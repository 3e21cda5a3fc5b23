// Asks a model the questions of labelled rows, over the wire as any caller does, and lays its answers beside what is
// right. Figures are quality's.

import { availableParallelism } from 'node:os';
import type { Question } from '../domain/question.ts';
import { temperatureOf } from '../domain/temperature.ts';
import { type LabelledAnswer, toLogits } from '../quality/labelled-answer.ts';
import type { LabelledRow } from '../quality/labelled-row.ts';
import { writeQuestion } from '../quality/wire-question.ts';
import type { DecisionModel, ServerConnection } from './program.ts';
import { errorMessage } from './wire-error.ts';

export interface AnsweredRows {
  /** Those of one row follow each other. */
  readonly answers: readonly LabelledAnswer[];
  /** Rows the server would not answer, and why. */
  readonly refusals: readonly { readonly line: number; readonly message: string }[];
}

/** As many at once as there may be workers. */
const MOST_AT_ONCE = 16;

export async function askRows(
  rows: readonly LabelledRow[],
  model: DecisionModel,
  server: ServerConnection,
): Promise<AnsweredRows> {
  const replies = await mapAtOnce(rows, (row) => askRow(row, model, server));
  return {
    answers: replies.flatMap((reply) => reply.answers ?? []),
    refusals: replies.flatMap(({ line, message }) => (message === undefined ? [] : [{ line, message }])),
  };
}

interface AnsweredRow {
  readonly line: number;
  readonly answers?: readonly LabelledAnswer[];
  readonly message?: string;
}

async function askRow(row: LabelledRow, model: DecisionModel, server: ServerConnection): Promise<AnsweredRow> {
  const { line, state } = row;
  const asked = await askQuestions(
    state,
    row.questions.map(({ question }) => question),
    { model, server },
  );
  if ('message' in asked) return { line, message: asked.message };
  const stateTokens = model.countTokens(state);
  const answers = row.questions.map(({ task, question: { type }, names, target }, place): LabelledAnswer => {
    const probabilities = asked.probabilities[place] ?? [];
    const logits = toLogits(probabilities, type, temperatureOf(model.temperatures, type, names.length));
    return { task, row: line, type, logits, target, names, stateTokens };
  });
  return { line, answers };
}

interface Asked {
  readonly model: DecisionModel;
  readonly server: ServerConnection;
}

type Reply = { readonly probabilities: readonly (readonly number[])[] } | { readonly message: string };

/** @returns `[questions][options]`, or why there is no answer */
async function askQuestions(state: string, questions: readonly Question[], { model, server }: Asked): Promise<Reply> {
  // Names never reach the model, so numbers do.
  const members = questions.map((question, place) => `"${place}":${writeQuestion(question)}`);
  const body = `{"model":${JSON.stringify(model.id)},"state":${JSON.stringify(state)},"questions":{${members.join(',')}}}`;
  const reply = await server.post('/ai/v1/systemone', body);
  if (reply.status !== 200) return { message: errorMessage(reply.body) };
  const { answers } = JSON.parse(reply.body) as { answers: Readonly<Record<string, WireAnswer>> };
  return { probabilities: questions.map((question, place) => readAnswer(question, answers[place])) };
}

interface WireAnswer {
  readonly noul?: number;
  readonly probabilities?: Readonly<Record<string, number>>;
}

/** @returns `[options]`, in the order of the question */
function readAnswer(question: Question, answer: WireAnswer | undefined): number[] {
  if (question.type === 'noul') return [1 - (answer?.noul ?? Number.NaN), answer?.noul ?? Number.NaN];
  const names =
    question.type === 'choice' ? question.options.map(({ name }) => name) : question.levels.map((_, i) => String(i));
  return names.map((name) => answer?.probabilities?.[name] ?? Number.NaN);
}

export interface OrderInstability {
  /** Questions asked again. */
  readonly questions: number;
  /** Largest change of a probability; 0 of no questions. */
  readonly largestShift: number;
}

/** Asks the choices of some rows again with their options turned round: nothing may change. */
export async function measureOrderInstability(
  rows: readonly LabelledRow[],
  model: DecisionModel,
  server: ServerConnection,
): Promise<OrderInstability> {
  const shifts = await mapAtOnce(rows, async ({ state, questions }) => {
    const choices = questions.map(({ question }) => question).filter(({ type }) => type === 'choice');
    if (choices.length === 0) return [];
    const [before, after] = [
      await askQuestions(state, choices, { model, server }),
      await askQuestions(state, choices.map(turnRound), { model, server }),
    ];
    if ('message' in before || 'message' in after) return [];
    return choices.map((_, place) => {
      const turned = after.probabilities[place]?.toReversed() ?? [];
      return largestDifference(before.probabilities[place] ?? [], turned);
    });
  });
  return { questions: shifts.flat().length, largestShift: Math.max(0, ...shifts.flat()) };
}

function turnRound(question: Question): Question {
  return question.type === 'choice' ? { ...question, options: question.options.toReversed() } : question;
}

function largestDifference(a: readonly number[], b: readonly number[]): number {
  return Math.max(0, ...a.map((value, i) => Math.abs(value - (b[i] ?? Number.NaN))));
}

/** Results in the order of the items, a bounded number under way. */
async function mapAtOnce<T, R>(items: readonly T[], action: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const work = async (): Promise<void> => {
    for (const [place, item] of entries) results[place] = await action(item);
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, availableParallelism()) }, work));
  return results;
}
