// Labelled rows of a request: checked in turns of the event loop, so that a thousand of them hold up nobody, and refused by
// their places, without a word of what is in them.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../domain/errors.ts';
import { QUESTION_LIMITS, type Question } from '../../domain/question.ts';
import { type LabelledRow, parseLabelledRow } from '../../quality/labelled-row.ts';
import { parseQuestion, RowFault } from '../../quality/wire-question.ts';

export interface SentRows {
  /** As parsed JSON. */
  readonly rows: readonly unknown[];
  /** Those that all rows share, as parsed JSON, by name; undefined: none. */
  readonly questions: Readonly<Record<string, unknown>> | undefined;
}

const TURN_MS = 5;
const MOST_FAULTS_TOLD = 10;

/** @throws AppError `invalid_request` that names the first rows, or the first shared question, at fault */
export async function readSentRows({ rows, questions }: SentRows): Promise<LabelledRow[]> {
  checkSharedQuestions(Object.values(questions ?? {}));
  const read: LabelledRow[] = [];
  const faults: { readonly place: number; readonly message: string }[] = [];
  const defaults = questions === undefined ? {} : { questions };
  let turnStartedMs = performance.now();
  for (const [place, value] of rows.entries()) {
    try {
      const row = parseLabelledRow(value, { line: place + 1, place, defaults });
      checkLimits(row);
      read.push(row);
    } catch (error) {
      if (!(error instanceof RowFault)) throw error;
      faults.push({ place, message: error.unquoted });
    }
    if (performance.now() - turnStartedMs < TURN_MS) continue;
    await nextTurn();
    turnStartedMs = performance.now();
  }
  const [first] = faults;
  if (first !== undefined) {
    throw new AppError('invalid_request', tellRowFaults(faults), { param: `rows[${first.place}]` });
  }
  return read;
}

/** Also of one that no row answers. */
function checkSharedQuestions(questions: readonly unknown[]): void {
  for (const [place, raw] of questions.entries()) {
    try {
      checkQuestion(parseQuestion(raw));
    } catch (error) {
      if (!(error instanceof RowFault)) throw error;
      const param = `questions[${place}]`;
      throw new AppError('invalid_request', `${param}: ${error.unquoted}.`, { param });
    }
  }
}

function tellRowFaults(faults: readonly { readonly place: number; readonly message: string }[]): string {
  const told = faults.slice(0, MOST_FAULTS_TOLD).map(({ place, message }) => `rows[${place}]: ${message}`);
  const more = faults.length - told.length;
  return `${told.join('; ')}${more > 0 ? `; and ${more.toLocaleString('en-US')} more` : ''}.`;
}

/** The same as of a request. @throws RowFault */
function checkLimits({ questions }: LabelledRow): void {
  if (questions.length > QUESTION_LIMITS.questions.max) {
    throw new RowFault(`it has more than ${QUESTION_LIMITS.questions.max} questions`);
  }
  for (const { question } of questions) checkQuestion(question);
}

function checkQuestion(question: Question): void {
  const { choiceOptions, scoreLevels, nameLength } = QUESTION_LIMITS;
  if (question.type === 'choice') {
    if (question.options.length < 2) throw new RowFault('a choice of one option leaves nothing to learn');
    if (question.options.length > choiceOptions.max)
      throw new RowFault(`a choice has ${choiceOptions.max} options at most`);
    if (question.options.some(({ name }) => name.length > nameLength)) {
      throw new RowFault(`the name of an option has ${nameLength} characters at most`);
    }
  }
  if (question.type !== 'score') return;
  const { length } = question.levels;
  if (length < scoreLevels.min || length > scoreLevels.max) {
    throw new RowFault(`a score has ${scoreLevels.min} to ${scoreLevels.max} levels`);
  }
}
