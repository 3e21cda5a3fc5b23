// What a decision is in tokens: the ids of its texts, checked against the model's limits, and the number that is billed.
// No graphs: the same code counts before a decision and runs in it. Pure.

import { AppError } from '../../domain/errors.ts';
import type { Question } from '../../domain/question.ts';
import type { SplitEncoderManifest } from '../manifest.ts';
import type { WordPieceTokenizer } from '../tokenizer.ts';
import { countQuestionTokens, type TokenizedQuestion, tokenizeQuestion } from './prompt.ts';
import { countedTokens, tellTokens } from './token-limit.ts';

export interface DecisionTexts {
  readonly state: string;
  readonly questions: readonly Question[];
}

export interface DecisionTokens {
  readonly stateIds: readonly number[];
  readonly questions: readonly TokenizedQuestion[];
  /** Content tokens, each counted once: the state, instructions and rendered options. */
  readonly inputTokens: number;
}

interface DecisionReader {
  readonly manifest: SplitEncoderManifest;
  readonly tokenizer: WordPieceTokenizer;
}

/** @throws AppError context_length_exceeded */
export function tokenizeDecision(texts: DecisionTexts, { manifest, tokenizer }: DecisionReader): DecisionTokens {
  const { id, limits } = manifest;
  const stateIds = Array.from(tokenizer.encode(texts.state, countedTokens(limits.state_tokens)));
  if (stateIds.length > limits.state_tokens) {
    const told = tellTokens(stateIds.length, limits.state_tokens);
    throw tooLong(`The state has ${told} tokens; ${id} takes at most ${limits.state_tokens}.`, 'state');
  }
  const questions: TokenizedQuestion[] = [];
  let questionTokens = 0;
  for (const question of texts.questions) {
    const tokenized = tokenizeQuestion(question, tokenizer, countedTokens(limits.question_tokens) - questionTokens);
    questions.push(tokenized);
    questionTokens += countQuestionTokens(tokenized);
    if (questionTokens > countedTokens(limits.question_tokens)) break;
  }
  if (questionTokens > limits.question_tokens) {
    const told = tellTokens(questionTokens, limits.question_tokens);
    throw tooLong(
      `The questions have ${told} tokens in all; ${id} takes at most ${limits.question_tokens}.`,
      'questions',
    );
  }
  return { stateIds, questions, inputTokens: stateIds.length + questionTokens };
}

function tooLong(message: string, param: string): AppError {
  return new AppError('context_length_exceeded', message, { param });
}
