// Door of cost, for its formulas: how much text a job brings, before anything is tokenised, and what the runs over it cost
// before anything is measured. Pure.

import type { Question } from '../../domain/question.ts';
import type { Work } from './cost-model.ts';

/** Of one question: estimated tokens of instructions and options, without specials. */
export interface QuestionSize {
  readonly tokens: number;
  readonly options: number;
}

/**
 * Where the cost model begins: a small model in int8 on one thread of an EPYC 9004, a run over S tokens 6.2 ms at 64, 13.0
 * at 128, 29.4 at 256; beside a document of K tokens, 40 tokens of a question 5.6 ms at 128, 19.3 at 2,000, 40 at 4,000.
 * Other models and machines differ by a factor for each kind of work, which the golden cases tell at the start and every
 * task after them.
 */
const MS_PER_TOKEN = 0.09;
const MS_PER_TOKEN_AND_TOKEN = 0.0001;
const MS_PER_TOKEN_AND_KEY = 0.0002;
const MS_PER_QUESTION = 0.8;
const MS_PER_JOINED_TOKEN = 0.004;
const MS_PER_TASK = 0.3;
const MS_PER_TEXT = 0.3;
/** `[CLS]` and `[SEP]` of a window or a branch. */
const SPECIAL_TOKENS = 2;

/** What every task takes: crossings between threads, tokens, results. */
export const TASK_WORK: Work = { task: MS_PER_TASK };

/** Windows of a document whose tokens are all encoded. @param tokens specials included */
export function encodeWork(tokens: number, windowTokens: number): Work {
  const full = Math.floor(tokens / windowTokens);
  const rest = tokens - full * windowTokens;
  return { encode: tokens * MS_PER_TOKEN, mix: full * mixMs(windowTokens) + mixMs(rest) };
}

export function joinWork(tokens: number): Work {
  return { join: tokens * MS_PER_JOINED_TOKEN };
}

/** One question beside a document. @param stateTokens specials included */
export function answerWork({ tokens, options }: QuestionSize, stateTokens: number): Work {
  const branchTokens = tokens + SPECIAL_TOKENS + options;
  const attend = branchTokens * MS_PER_TOKEN_AND_KEY * stateTokens;
  return { answer: MS_PER_QUESTION + branchTokens * MS_PER_TOKEN, attend };
}

/** One embedded text. @param tokens specials included */
export function embedWork(tokens: number): Work {
  return { text: MS_PER_TEXT, encode: tokens * MS_PER_TOKEN, mix: mixMs(tokens) };
}

/** Tokens of a document with the specials of its windows. */
export function withSpecials(contentTokens: number, windowTokens: number): number {
  const windows = Math.max(1, Math.ceil(contentTokens / (windowTokens - SPECIAL_TOKENS)));
  return contentTokens + windows * SPECIAL_TOKENS;
}

/** The reverse of `withSpecials`. */
export function withoutSpecials(tokens: number, windowTokens: number): number {
  return tokens - Math.max(1, Math.ceil(tokens / windowTokens)) * SPECIAL_TOKENS;
}

/** Instructions and options of a question, one after the other. */
export function textsOf(question: Question): string[] {
  const { instructions } = question;
  switch (question.type) {
    case 'choice':
      return [instructions, ...question.options.flatMap(({ name, description }) => [name, description ?? ''])];
    case 'score':
      return [instructions, ...question.levels];
    case 'noul':
      return [instructions, 'false true', question.whenFalse ?? '', question.whenTrue ?? ''];
  }
}

export function countOptions(question: Question): number {
  switch (question.type) {
    case 'choice':
      return question.options.length;
    case 'score':
      return question.levels.length;
    case 'noul':
      return 2;
  }
}

/** UTF-16 code units of a whole decision. */
export function countCharacters({
  state,
  questions,
}: {
  readonly state: string;
  readonly questions: readonly Question[];
}): number {
  return questions.reduce(
    (total, question) => textsOf(question).reduce((sum, text) => sum + text.length, total),
    state.length,
  );
}

/** Of each token of a run to every other. */
function mixMs(tokens: number): number {
  return MS_PER_TOKEN_AND_TOKEN * tokens * tokens;
}
