// Answers that the rows of a file have already: they are kept, at the head of those that a person gives.

import { answerNames } from '../../quality/gold.ts';
import type { LabelledRow } from '../../quality/labelled-row.ts';
import type { AnswerFile, GivenAnswer } from './answer-file.ts';
import { keyOfItem } from './item-key.ts';
import type { OpenRow } from './open-rows.ts';

/**
 * Writes those that are not among the written ones.
 * @returns them, as the file has them now
 * @throws AnswerFileError
 */
export function keepGivenAnswers(
  file: Pick<AnswerFile, 'append'>,
  written: readonly LabelledRow[],
  rows: readonly OpenRow[],
): LabelledRow[] {
  const known = new Set(
    written.flatMap(({ state, questions }) => questions.map(({ question }) => keyOfItem(state, question))),
  );
  const answers = rows.flatMap(answersOf).filter(({ state, question }) => {
    const key = keyOfItem(state, question);
    const isNew = !known.has(key);
    known.add(key);
    return isNew;
  });
  if (answers.length > 0) file.append(answers);
  return answers.map(({ state, name, question, target }) => ({
    line: 0,
    state,
    questions: [{ task: name, question, names: answerNames(question), target }],
  }));
}

function answersOf({ id, state, questions }: OpenRow): GivenAnswer[] {
  return questions.flatMap(({ name, question, target }) =>
    target === undefined ? [] : [{ id, state, name, question, target }],
  );
}
