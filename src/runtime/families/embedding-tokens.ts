// What an embedding call is in tokens: ids of each input, checked against the model's limits, cut or put into windows as
// the task says. No graphs: the same code counts before a call and runs in it. Pure.

import { AppError } from '../../domain/errors.ts';
import type { TextEncoderManifest } from '../manifest.ts';
import type { EmbedItem, InputShare, LongInputs } from '../messages.ts';
import { isWordPiece, type Tokenizer } from '../tokenizer.ts';
import { cut } from './cut.ts';
import { countedTokens, tellTokens } from './token-limit.ts';

const SPECIAL_TOKENS = 2;
/** Of one input that is read in windows. Each window costs as much as an input of its own, so there must be an end. */
const LONG_INPUT_TOKENS = 8192;

interface EmbeddingReader {
  readonly manifest: TextEncoderManifest;
  readonly tokenizer: Tokenizer;
  readonly longInputs: LongInputs;
  /** Default: the tokenizer's. */
  readonly encode?: Tokenizer['encode'];
}

export interface EmbeddingRow {
  readonly place: number;
  /** Ids without specials; more than one where a long input is read in windows, all of one share. */
  readonly windows: readonly Int32Array[];
  readonly isTruncated: boolean;
}

export interface EmbeddingTokens {
  /** `[inputs]` */
  readonly rows: readonly EmbeddingRow[];
  readonly inputTokens: number;
}

/** Content tokens that the model reads at once. */
export function windowTokens({ limits }: TextEncoderManifest): number {
  return limits.input_tokens - SPECIAL_TOKENS;
}

/** Content tokens that one input may have. */
export function inputTokenLimit(manifest: TextEncoderManifest, longInputs: LongInputs): number {
  const window = windowTokens(manifest);
  return longInputs === 'windows' ? Math.max(window, LONG_INPUT_TOKENS) : window;
}

/** @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
export function tokenizeInputs(inputs: readonly EmbedItem[], reader: EmbeddingReader): EmbeddingTokens {
  const rows = inputs.map((item) => readItem(item, reader));
  const inputTokens = rows.reduce((sum, { windows }) => sum + windows.reduce((total, ids) => total + ids.length, 0), 0);
  return { rows, inputTokens };
}

function readItem({ place, input, share }: EmbedItem, reader: EmbeddingReader): EmbeddingRow {
  const param = `input[${place}]`;
  const limit = inputTokenLimit(reader.manifest, reader.longInputs);
  const read = readIds(input, limit, reader);
  const isTruncated = reader.longInputs === 'truncate' && read.length > limit;
  if (read.length > limit && !isTruncated) throw tooLong(input, read.length, { param, limit, reader });
  const ids = typeof input === 'string' ? (read as Int32Array) : checkIds(input, param, reader);
  const window = windowTokens(reader.manifest);
  if (ids.length <= window) return { place, windows: [ids], isTruncated };
  if (isTruncated) return { place, windows: [ids.subarray(0, window)], isTruncated };
  return { place, windows: takeShare(cutWindows(ids, window, reader.tokenizer), share), isTruncated };
}

/** @returns as many ids as it takes to know what becomes of the input */
function readIds(input: EmbedItem['input'], limit: number, reader: EmbeddingReader): ArrayLike<number> {
  if (typeof input !== 'string') return input;
  const { tokenizer, longInputs, encode = (text, most) => tokenizer.encode(text, most) } = reader;
  return encode(input, longInputs === 'truncate' ? limit : countedTokens(limit));
}

function tooLong(
  input: EmbedItem['input'],
  tokens: number,
  { param, limit, reader }: { param: string; limit: number; reader: EmbeddingReader },
): AppError {
  const told = typeof input === 'string' ? tellTokens(tokens, limit) : tokens;
  const window = windowTokens(reader.manifest);
  const message = [
    `${param} has ${told} tokens; ${reader.manifest.id} takes at most ${limit}.`,
    `"truncate": true has the first ${window} read.`,
  ].join(' ');
  return new AppError('context_length_exceeded', message, { param });
}

/** @throws AppError invalid_request */
function checkIds(ids: readonly number[], param: string, { manifest, tokenizer }: EmbeddingReader): Int32Array {
  if (!ids.every((id) => Number.isInteger(id) && id >= 0 && id < tokenizer.vocabularySize)) {
    const message = `${param} has a token id outside the vocabulary of ${manifest.id} (0 to ${tokenizer.vocabularySize - 1}).`;
    throw new AppError('invalid_request', message, { param });
  }
  return Int32Array.from(ids);
}

/** Between words, where the tokenizer knows where they are. */
function cutWindows(ids: Int32Array, size: number, tokenizer: Tokenizer): Int32Array[] {
  return cut(ids, size, isWordPiece(tokenizer) ? (id) => tokenizer.isContinuation(id) : () => false);
}

/** All shares together are all windows, however many there are of either. */
function takeShare(windows: readonly Int32Array[], share: InputShare | undefined): readonly Int32Array[] {
  if (share === undefined) return windows;
  const { index, count } = share;
  const bound = (at: number): number => Math.floor((at * windows.length) / count);
  return windows.slice(bound(index), bound(index + 1));
}
