// What a decision is in tokens: the ids of its texts, checked against the model's limits, and the number that is billed.
// No graphs: the same code counts before a decision and runs in it. Pure.

import type { Question } from '../../../domain/question.ts';
import type { SplitEncoderManifest } from '../../model-folder/manifest.ts';
import type { WordPieceTokenizer } from '../../tokenizer/tokenizer.ts';
import { countedTokens, exceedsContext, tellTokens } from '../token-limit.ts';
import { countQuestionTokens, type TokenizedQuestion, tokenizeQuestion } from './prompt.ts';

export interface DecisionTexts {
  readonly state: string;
  readonly questions: readonly Question[];
}

export interface QuestionTokens {
  readonly questions: readonly TokenizedQuestion[];
  /** Content tokens, each counted once: instructions and rendered options. */
  readonly questionTokens: number;
}

interface DecisionTokens extends QuestionTokens {
  readonly stateIds: Int32Array;
  /** Content tokens, each counted once: the state, instructions and rendered options. */
  readonly inputTokens: number;
}

export interface DecisionReader {
  readonly manifest: SplitEncoderManifest;
  readonly tokenizer: WordPieceTokenizer;
}

/** @throws AppError context_length_exceeded */
export function tokenizeDecision({ state, questions }: DecisionTexts, reader: DecisionReader): DecisionTokens {
  const stateIds = tokenizeState(state, reader);
  const tokenized = tokenizeQuestions(questions, reader);
  return { stateIds, ...tokenized, inputTokens: stateIds.length + tokenized.questionTokens };
}

/** @returns ids without specials @throws AppError context_length_exceeded */
export function tokenizeState(state: string, { manifest, tokenizer }: DecisionReader): Int32Array {
  const { id, limits } = manifest;
  const ids = tokenizer.encode(state, countedTokens(limits.state_tokens));
  if (ids.length <= limits.state_tokens) return ids;
  const told = tellTokens(ids.length, limits.state_tokens);
  throw exceedsContext(`The state has ${told} tokens; ${id} takes at most ${limits.state_tokens}.`, 'state');
}

/** @throws AppError context_length_exceeded */
export function tokenizeQuestions(
  questions: readonly Question[],
  { manifest, tokenizer }: DecisionReader,
): QuestionTokens {
  const { id, limits } = manifest;
  const counted = countedTokens(limits.question_tokens);
  const tokenized: TokenizedQuestion[] = [];
  let questionTokens = 0;
  for (const question of questions) {
    const read = tokenizeQuestion(question, tokenizer, counted - questionTokens);
    tokenized.push(read);
    questionTokens += countQuestionTokens(read);
    if (questionTokens > counted) break;
  }
  if (questionTokens <= limits.question_tokens) return { questions: tokenized, questionTokens };
  const told = tellTokens(questionTokens, limits.question_tokens);
  throw exceedsContext(
    `The questions have ${told} tokens in all; ${id} takes at most ${limits.question_tokens}.`,
    'questions',
  );
}
