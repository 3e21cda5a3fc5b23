// From the texts of a decision to the rows its graphs read. Remembers what the next part of the same decision will bring
// once more. How a text is cut is prompt.ts's.

import { isDeepStrictEqual } from 'node:util';
import type { Question } from '../../../domain/question.ts';
import { type DecisionReader, type QuestionTokens, tokenizeQuestions, tokenizeState } from './decision-tokens.ts';
import {
  cutWindows,
  type PreparedQuestion,
  type PromptLimits,
  prepareQuestion,
  type TokenizedQuestion,
  tokenizeQuestion,
} from './prompt.ts';
import { nameWindow, type Window } from './windows.ts';

const STATE_SEGMENT = 0;
const INSTRUCTION_SEGMENT = 1;

/** Longer texts are read again for every part of a decision rather than kept until the next one. */
const REMEMBERED_CHARACTERS = 262_144;

interface StateText {
  readonly text: string;
  /** Content tokens. */
  readonly inputTokens: number;
  readonly windows: readonly Window[];
}

export class PromptReader {
  readonly #parts: DecisionReader;
  readonly #limits: PromptLimits;
  #lastState: StateText | undefined;
  #lastQuestion: { readonly question: Question; readonly tokenized: TokenizedQuestion } | undefined;

  constructor(parts: DecisionReader) {
    const { windows, branches } = parts.manifest;
    this.#parts = parts;
    this.#limits = {
      windowTokens: windows.tokens,
      maxWindowIndex: windows.max_index,
      branchTokens: branches.max_tokens,
      branchScores: branches.max_scores,
    };
  }

  /** The parts of one decision come one after the other and bring the same text. @throws AppError context_length_exceeded */
  readState(text: string): StateText {
    if (this.#lastState?.text === text) return this.#lastState;
    const ids = tokenizeState(text, this.#parts);
    const slices = cutWindows(ids, this.#parts.tokenizer, this.#limits);
    const state = { text, inputTokens: ids.length, windows: this.#toWindows(slices, STATE_SEGMENT) };
    this.#lastState = text.length > REMEMBERED_CHARACTERS ? undefined : state;
    return state;
  }

  /** @throws AppError context_length_exceeded */
  readQuestions(questions: readonly Question[]): QuestionTokens {
    return tokenizeQuestions(questions, this.#parts);
  }

  /** The slices of one question come one after the other, too. */
  readQuestion(question: Question): TokenizedQuestion {
    if (this.#lastQuestion !== undefined && isDeepStrictEqual(this.#lastQuestion.question, question))
      return this.#lastQuestion.tokenized;
    const tokenized = tokenizeQuestion(question, this.#parts.tokenizer);
    this.#lastQuestion = { question, tokenized };
    return tokenized;
  }

  /** @param stateTokens specials included */
  prepare(question: TokenizedQuestion, stateTokens: number): PreparedQuestion {
    return prepareQuestion(question, stateTokens, { tokenizer: this.#parts.tokenizer, limits: this.#limits });
  }

  /** Instruction slices that did not fit the branch: they follow the state, for this question alone. */
  instructionWindows(question: PreparedQuestion): Window[] {
    return this.#toWindows(question.windows, INSTRUCTION_SEGMENT);
  }

  #toWindows(slices: readonly Int32Array[], segment: number): Window[] {
    const { maxWindowIndex } = this.#limits;
    return slices.map((ids, number) =>
      nameWindow({ ids, segment, index: Math.min(number, maxWindowIndex) }, this.#parts.manifest.id),
    );
  }
}
