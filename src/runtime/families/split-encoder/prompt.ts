// From questions to the rows a split encoder reads: rendering, sorting, windows and chunks, exactly as models/README.md
// says. Pure: no tensors, no graphs. models/training/umpire_training/prompts.py is its twin.

import type { Question, QuestionType } from '../../../domain/question.ts';
import type { WordPieceTokenizer } from '../../tokenizer/tokenizer.ts';
import { cut } from '../cut.ts';
import { type RenderedOption, sortOptions } from '../option-order.ts';

/** The numbers of the manifest that decide how text is cut. */
export interface PromptLimits {
  readonly windowTokens: number;
  readonly maxWindowIndex: number;
  readonly branchTokens: number;
  readonly branchScores: number;
}

const NO_IDS = new Int32Array();

/** One run of `answer`: the instructions, then pieces numbered from 1. */
export interface Chunk {
  readonly tokenIds: number[];
  readonly positions: number[];
  readonly branch: number[];
  /** Per piece, which option (in the model's order) it belongs to. */
  readonly options: number[];
  /** Per piece, its number of tokens, `[SEP]` included. */
  readonly lengths: number[];
}

/** Instructions and options of one question as ids, without specials, before the number of state keys is known. */
export interface TokenizedQuestion {
  readonly type: QuestionType;
  readonly instructions: Int32Array;
  /** `[options]`, in the model's order. */
  readonly options: readonly Int32Array[];
  /** `[options]`: place in the request of each option in the model's order. */
  readonly order: readonly number[];
}

export interface PreparedQuestion {
  readonly type: QuestionType;
  /** Instruction slices that are encoded like windows of the state, with specials. */
  readonly windows: readonly Int32Array[];
  readonly chunks: readonly Chunk[];
  readonly order: readonly number[];
  /** `[options]`: 1..K for score questions, else zeros. */
  readonly levels: readonly number[];
}

/** Options as the model reads them, in the order of the request. */
export function renderOptions(question: Question): RenderedOption[] {
  switch (question.type) {
    case 'choice':
      return question.options.map(({ name, description }) => named(name, description));
    case 'noul':
      return [named('false', question.whenFalse), named('true', question.whenTrue)];
    case 'score':
      return question.levels.map((text) => ({ text, name: '' }));
  }
}

function named(name: string, description: string | null): RenderedOption {
  return { text: description ? `${name}: ${description}` : name, name };
}

/** @param limit reading stops soon after the question has more content tokens than this */
export function tokenizeQuestion(
  question: Question,
  tokenizer: WordPieceTokenizer,
  limit = Number.POSITIVE_INFINITY,
): TokenizedQuestion {
  const rendered = renderOptions(question);
  const order = sortOptions(question, rendered);
  let left = limit;
  const read = (text: string): Int32Array => {
    const ids = left < 0 ? NO_IDS : tokenizer.encode(text, left);
    left -= ids.length;
    return ids;
  };
  const instructions = read(question.instructions);
  return { type: question.type, instructions, options: order.map((place) => read(rendered[place]?.text ?? '')), order };
}

/** Content tokens of one question, each counted once, without specials. */
export function countQuestionTokens(question: TokenizedQuestion): number {
  return question.options.reduce((sum, ids) => sum + ids.length, question.instructions.length);
}

/** `[CLS] slice [SEP]` for each slice; no ids give one empty window. */
export function cutWindows(ids: Int32Array, tokenizer: WordPieceTokenizer, limits: PromptLimits): Int32Array[] {
  return cutOrEmpty(ids, tokenizer, limits).map((slice) => betweenSpecials(slice, tokenizer));
}

function cutOrEmpty(ids: Int32Array, tokenizer: WordPieceTokenizer, limits: PromptLimits): Int32Array[] {
  const slices = cut(ids, limits.windowTokens - 2, (id) => tokenizer.isContinuation(id));
  return slices.length === 0 ? [NO_IDS] : slices;
}

function betweenSpecials(slice: Int32Array, { special }: WordPieceTokenizer): Int32Array {
  const ids = new Int32Array(slice.length + 2);
  ids[0] = special.cls;
  ids.set(slice, 1);
  ids[ids.length - 1] = special.sep;
  return ids;
}

/** @param stateKeys tokens of the state's windows, specials included */
export function prepareQuestion(
  question: TokenizedQuestion,
  stateKeys: number,
  { tokenizer, limits }: { readonly tokenizer: WordPieceTokenizer; readonly limits: PromptLimits },
): PreparedQuestion {
  const windows = cutWindows(question.instructions, tokenizer, limits);
  const last = windows.pop() ?? NO_IDS;
  const keys = windows.reduce((sum, window) => sum + window.length, stateKeys);
  const pieces = question.options.map((ids) =>
    cutOrEmpty(ids, tokenizer, limits).map((slice) => [...slice, tokenizer.special.sep]),
  );
  const capacity = Math.min(limits.branchTokens, Math.floor(limits.branchScores / keys));
  const levels = question.order.map((_, level) => (question.type === 'score' ? level + 1 : 0));
  return { type: question.type, windows, chunks: buildChunks(last, pieces, capacity), order: question.order, levels };
}

/** @param instructions `[CLS] slice [SEP]` @param options `[options][pieces]` @param capacity tokens of one chunk */
export function buildChunks(
  instructions: ArrayLike<number>,
  options: readonly (readonly (readonly number[])[])[],
  capacity: number,
): Chunk[] {
  const chunks: Chunk[] = [];
  let chunk: Chunk | undefined;
  for (const [option, pieces] of options.entries()) {
    for (const piece of pieces) {
      if (chunk === undefined || chunk.tokenIds.length + piece.length > capacity) {
        chunk = openChunk(instructions);
        chunks.push(chunk);
      }
      appendPiece(chunk, piece, { option, firstPosition: instructions.length });
    }
  }
  return chunks;
}

function openChunk(instructions: ArrayLike<number>): Chunk {
  const tokenIds = Array.from(instructions);
  return {
    tokenIds,
    positions: tokenIds.map((_, position) => position),
    branch: tokenIds.map(() => 0),
    options: [],
    lengths: [],
  };
}

function appendPiece(
  chunk: Chunk,
  piece: readonly number[],
  { option, firstPosition }: { option: number; firstPosition: number },
): void {
  chunk.options.push(option);
  chunk.lengths.push(piece.length);
  const number = chunk.options.length;
  for (const [index, id] of piece.entries()) {
    chunk.tokenIds.push(id);
    chunk.positions.push(firstPosition + index);
    chunk.branch.push(number);
  }
}
