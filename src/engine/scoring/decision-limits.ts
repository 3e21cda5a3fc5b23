// How much a decision may ask of a model that reads each row by itself, and the refusal of one that asks for more. Pure.

import { AppError } from '../../domain/errors.ts';
import type { Question } from '../../domain/question.ts';
import { countOptions } from '../cost/work-size.ts';

/** As many as an embedding call may have inputs. */
export const MOST_ROWS = 2048;
/** Of all statements together: instructions may stand in the statement of every option. */
const MOST_STATEMENT_CHARACTERS = 4 * 1024 * 1024;

/** @throws AppError invalid_request */
export function requireFewRows(rows: number, modelId: string): void {
  if (rows <= MOST_ROWS) return;
  throw new AppError(
    'invalid_request',
    `${modelId} reads ${rows} rows for these questions, the state in each; it takes at most ${MOST_ROWS} in a request.`,
    { param: 'questions' },
  );
}

/** Before they are put together. @throws AppError invalid_request */
export function requireShortStatements(questions: readonly Question[], modelId: string): void {
  let characters = 0;
  for (const [place, question] of questions.entries()) {
    characters += countOptions(question) * question.instructions.length;
    if (characters <= MOST_STATEMENT_CHARACTERS) continue;
    const message = `The instructions of questions[${place}] are too long for ${modelId}, which reads them beside every option.`;
    throw new AppError('context_length_exceeded', message, { param: `questions[${place}].instructions` });
  }
}
