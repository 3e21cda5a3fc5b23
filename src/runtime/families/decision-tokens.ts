// What a decision is in tokens: the ids of its texts, checked against the model's limits, and the number that is billed.
// No graphs: the same code counts before a decision and runs in it. Pure.

import { AppError } from '../../domain/errors.ts';
import type { Question } from '../../domain/question.ts';
import type { BertTokenizer } from '../bert-tokenizer.ts';
import type { SplitEncoderManifest } from '../manifest.ts';
import { countQuestionTokens, type TokenizedQuestion, tokenizeQuestion } from './prompt.ts';

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
  readonly tokenizer: BertTokenizer;
}

/** @throws AppError context_length_exceeded */
export function tokenizeDecision(texts: DecisionTexts, { manifest, tokenizer }: DecisionReader): DecisionTokens {
  const { id, limits } = manifest;
  const stateIds = tokenizer.encode(texts.state);
  const questions = texts.questions.map((question) => tokenizeQuestion(question, tokenizer));
  const questionTokens = questions.reduce((sum, question) => sum + countQuestionTokens(question), 0);
  if (stateIds.length > limits.state_tokens) {
    throw tooLong(`The state has ${stateIds.length} tokens; ${id} takes at most ${limits.state_tokens}.`, 'state');
  }
  if (questionTokens > limits.question_tokens) {
    const message = `The questions have ${questionTokens} tokens in all; ${id} takes at most ${limits.question_tokens}.`;
    throw tooLong(message, 'questions');
  }
  return { stateIds, questions, inputTokens: stateIds.length + questionTokens };
}

function tooLong(message: string, param: string): AppError {
  return new AppError('context_length_exceeded', message, { param });
}
