// What makes two questions, or two questions about a document, one and the same. Pure.

import { createHash } from 'node:crypto';
import type { Question } from '../../domain/question.ts';
import { writeQuestion } from '../../quality/wire-question.ts';

/** One for equal questions, whatever they are called and in whatever order their options stand. */
export function keyOfQuestion(question: Question): string {
  if (question.type !== 'choice') return writeQuestion(question);
  const options = question.options.map(({ name, description }) => JSON.stringify([name, description]));
  return JSON.stringify([question.type, question.instructions, ...options.sort()]);
}

/** One for equal questions about equal documents; no text can be read from it. */
export function keyOfItem(state: string, question: Question): string {
  return createHash('sha256')
    .update(JSON.stringify([state, keyOfQuestion(question)]))
    .digest('base64');
}
