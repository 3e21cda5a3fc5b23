// What an embedding call is in tokens: ids of each input with its prompt, checked against the model's limits, cut or put
// into windows as the task says. No graphs: the same code counts before a call and runs in it. Pure.

import { AppError } from '../../../domain/errors.ts';
import type { EmbedItem, LongInputs } from '../../messages.ts';
import type { TextEncoderManifest } from '../../model-folder/manifest.ts';
import { countFrameIds, type Frames } from '../../tokenizer/frames.ts';
import { isWordPiece, type Tokenizer } from '../../tokenizer/tokenizer.ts';
import { cut, cutShare } from '../cut.ts';
import { countedTokens, tellTokens } from '../token-limit.ts';

/** Of one input that is read in windows. Each window costs as much as an input of its own, so there must be an end. */
const LONG_INPUT_TOKENS = 8192;

interface EmbeddingReader {
  readonly manifest: TextEncoderManifest;
  readonly tokenizer: Tokenizer;
  readonly longInputs: LongInputs;
  /** Put before every input. Default: nothing */
  readonly prompt?: string | undefined;
  /** Of texts that come in shares. Default: the tokenizer's. */
  readonly encodeShared?: Tokenizer['encode'];
}

/** What one run reads. */
export interface EmbeddingWindow {
  /** Without specials: the prompt's, then the input's own. */
  readonly ids: Int32Array;
  /** How many of them are the prompt's. */
  readonly promptTokens: number;
}

interface EmbeddingRow {
  readonly place: number;
  /** More than one where a long input is read in windows, all of one share. */
  readonly windows: readonly EmbeddingWindow[];
  readonly isTruncated: boolean;
}

export interface EmbeddingTokens {
  /** `[inputs]` */
  readonly rows: readonly EmbeddingRow[];
  /** Of all that is read: a prompt counts in every window. */
  readonly inputTokens: number;
}

/** Content tokens that the model reads at once, a prompt's among them. */
export function windowTokens({ limits }: TextEncoderManifest, { single }: Frames): number {
  return limits.input_tokens - countFrameIds(single);
}

/** Content tokens that one input may have. @param window those that the model reads at once */
export function inputTokenLimit(window: number, longInputs: LongInputs): number {
  return longInputs === 'windows' ? Math.max(window, LONG_INPUT_TOKENS) : window;
}

/** @throws AppError context_length_exceeded, invalid_request (an id outside the vocabulary) */
export function tokenizeInputs(inputs: readonly EmbedItem[], reader: EmbeddingReader): EmbeddingTokens {
  const { prompt = '', tokenizer } = reader;
  const promptIds = prompt === '' ? new Int32Array() : tokenizer.encode(prompt);
  const rows = inputs.map((item) => readItem(item, promptIds, reader));
  const inputTokens = rows.reduce((sum, { windows }) => sum + windows.reduce((all, { ids }) => all + ids.length, 0), 0);
  return { rows, inputTokens };
}

function readItem(item: EmbedItem, promptIds: Int32Array, reader: EmbeddingReader): EmbeddingRow {
  const { place, input, share } = item;
  const param = `input[${place}]`;
  const { manifest, tokenizer, longInputs } = reader;
  const window = windowTokens(manifest, tokenizer.frames);
  const limit = inputTokenLimit(window, longInputs);
  const ids =
    typeof input === 'string'
      ? readText(input, { limit, reader, isShared: share !== undefined })
      : join(promptIds, checkIds(input, param, reader));
  const isTruncated = longInputs === 'truncate' && ids.length > limit;
  if (ids.length > limit && !isTruncated) {
    throw tooLong({
      param,
      limit,
      window,
      reader,
      tokens: typeof input === 'string' ? tellTokens(ids.length, limit) : ids.length,
    });
  }
  // That a text is long was estimated: of a shorter one some shares are empty.
  const windows = toWindows(isTruncated ? ids.subarray(0, limit) : ids, promptIds, { window, tokenizer });
  return { place, windows: share === undefined ? windows : cutShare(windows, share.index, share.count), isTruncated };
}

/** Prompt and text are one string, as in training. @returns as many ids as it takes to know what becomes of the input */
function readText(
  input: string,
  { limit, reader, isShared }: { limit: number; reader: EmbeddingReader; isShared: boolean },
): Int32Array {
  const { tokenizer, longInputs, encodeShared, prompt = '' } = reader;
  const most = longInputs === 'truncate' ? limit : countedTokens(limit);
  const text = prompt + input;
  return isShared && encodeShared !== undefined ? encodeShared(text, most) : tokenizer.encode(text, most);
}

interface LongInput {
  readonly param: string;
  readonly limit: number;
  readonly window: number;
  readonly tokens: string | number;
  readonly reader: EmbeddingReader;
}

function tooLong({ param, limit, window, tokens, reader }: LongInput): AppError {
  const { manifest, prompt = '' } = reader;
  const message = [
    `${param} has ${tokens} tokens${prompt === '' ? '' : ' with its prompt'}; ${manifest.id} takes at most ${limit}.`,
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

/**
 * At least one; cut between words, where the tokenizer knows where they are. Every window begins with the prompt: what it
 * says of the text holds for all of it.
 */
function toWindows(
  ids: Int32Array,
  promptIds: Int32Array,
  { window, tokenizer }: { window: number; tokenizer: Tokenizer },
): EmbeddingWindow[] {
  const promptTokens = Math.min(promptIds.length, ids.length);
  if (ids.length <= window) return [{ ids, promptTokens }];
  // The prompt's last token may have become one with the text's first.
  const shared = promptIds.findIndex((id, at) => ids[at] !== id);
  const prefix = ids.subarray(0, shared === -1 ? promptTokens : shared);
  const isContinuation = isWordPiece(tokenizer) ? (id: number) => tokenizer.isContinuation(id) : () => false;
  const slices = cut(ids.subarray(prefix.length), window - prefix.length, isContinuation);
  return slices.map((slice) => ({ ids: join(prefix, slice), promptTokens: prefix.length }));
}

function join(first: Int32Array, second: Int32Array): Int32Array {
  if (first.length === 0) return second;
  const ids = new Int32Array(first.length + second.length);
  ids.set(first);
  ids.set(second, first.length);
  return ids;
}
