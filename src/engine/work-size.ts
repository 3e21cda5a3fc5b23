// How much text a job brings, before anything is tokenised. Pure.

import type { Question } from '../domain/question.ts';
import type { WorkSize } from './cost-model.ts';
import type { DecideJob } from './engine.ts';

/** UTF-16 code units of the state, and of all instructions and options. */
export function sizeOfDecision({ state, questions }: DecideJob): WorkSize {
  const questionCharacters = questions.reduce((total, question) => total + countQuestionCharacters(question), 0);
  return { stateCharacters: state.length, questionCharacters };
}

/** UTF-16 code units of instructions and options. */
export function countQuestionCharacters(question: Question): number {
  const { instructions } = question;
  switch (question.type) {
    case 'choice':
      return question.options.reduce(
        (total, { name, description }) => total + name.length + (description?.length ?? 0),
        instructions.length,
      );
    case 'score':
      return question.levels.reduce((total, level) => total + level.length, instructions.length);
    case 'noul':
      return (
        instructions.length + 'falsetrue'.length + (question.whenFalse?.length ?? 0) + (question.whenTrue?.length ?? 0)
      );
  }
}
