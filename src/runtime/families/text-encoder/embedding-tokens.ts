// What an embedding call is in tokens: ids of each input, checked against the model's limits, cut or put into windows as
// the task says. No graphs: the same code counts before a call and runs in it. Pure.

import { AppError } from '../../../domain/errors.ts';
import type { EmbedItem, LongInputs } from '../../messages.ts';
import type { TextEncoderManifest } from '../../model-folder/manifest.ts';
import { isWordPiece, type Tokenizer } from '../../tokenizer/tokenizer.ts';
import { cut, cutShare } from '../cut.ts';
import { countedTokens, tellTokens } from '../token-limit.ts';

const SPECIAL_TOKENS = 2;
/** Of one input that is read in windows. Each window costs as much as an input of its own, so there must be an end. */
const LONG_INPUT_TOKENS = 8192;

interface EmbeddingReader {
  readonly manifest: TextEncoderManifest;
  readonly tokenizer: Tokenizer;
  readonly longInputs: LongInputs;
  /** Of texts that come in shares. Default: the tokenizer's. */
  readonly encodeShared?: Tokenizer['encode'];
}

interface EmbeddingRow {
  readonly place: number;
  /** Ids without specials; more than one where a long input is read in windows, all of one share. */
  readonly windows: readonly Int32Array[];
  readonly isTruncated: boolean;
}

interface EmbeddingTokens {
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

function readItem(item: EmbedItem, reader: EmbeddingReader): EmbeddingRow {
  const { place, input, share } = item;
  const param = `input[${place}]`;
  const limit = inputTokenLimit(reader.manifest, reader.longInputs);
  const read = readIds(item, limit, reader);
  const isTruncated = reader.longInputs === 'truncate' && read.length > limit;
  if (read.length > limit && !isTruncated) throw tooLong(input, read.length, { param, limit, reader });
  const ids = typeof input === 'string' ? (read as Int32Array) : checkIds(input, param, reader);
  // That a text is long was estimated: of a shorter one some shares are empty.
  const windows = toWindows(isTruncated ? ids.subarray(0, limit) : ids, reader);
  return { place, windows: share === undefined ? windows : cutShare(windows, share.index, share.count), isTruncated };
}

/** @returns as many ids as it takes to know what becomes of the input */
function readIds({ input, share }: EmbedItem, limit: number, reader: EmbeddingReader): ArrayLike<number> {
  if (typeof input !== 'string') return input;
  const { tokenizer, longInputs, encodeShared } = reader;
  const most = longInputs === 'truncate' ? limit : countedTokens(limit);
  return share === undefined || encodeShared === undefined ? tokenizer.encode(input, most) : encodeShared(input, most);
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

/** At least one; cut between words, where the tokenizer knows where they are. */
function toWindows(ids: Int32Array, { manifest, tokenizer }: EmbeddingReader): Int32Array[] {
  const size = windowTokens(manifest);
  if (ids.length <= size) return [ids];
  return cut(ids, size, isWordPiece(tokenizer) ? (id) => tokenizer.isContinuation(id) : () => false);
}
