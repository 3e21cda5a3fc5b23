// What pairs of texts are in tokens: ids of each, checked against the model's limit, and the number that is billed. No
// graphs: the same code counts before a job and runs in it. Pure.

import { sum } from '../../../domain/sum.ts';
import type { PairItem, ScorePairsTask } from '../../messages.ts';
import type { EntailmentManifest, RerankerManifest } from '../../model-folder/manifest.ts';
import { countFrameIds, type Frame } from '../../tokenizer/frames.ts';
import type { Tokenizer } from '../../tokenizer/tokenizer.ts';
import { countedTokens, exceedsContext, tellTokens } from '../token-limit.ts';

export interface PairReader {
  readonly manifest: EntailmentManifest | RerankerManifest;
  readonly tokenizer: Tokenizer;
}

export type PairTexts = Pick<ScorePairsTask, 'first' | 'pairs' | 'truncate'>;

interface PairTokens {
  /** Ids without specials. */
  readonly first: Int32Array;
  /** `[pairs]` */
  readonly seconds: readonly { readonly place: number; readonly ids: Int32Array; readonly isTruncated: boolean }[];
  /** Of all rows: the first text counts once for each. */
  readonly inputTokens: number;
}

/** @throws Error where the tokenizer does not say how a pair is put together */
export function pairFrame({ tokenizer }: Pick<PairReader, 'tokenizer'>): Frame {
  const { pair } = tokenizer.frames;
  if (pair === undefined) throw new Error('tokenizer.json does not say how a pair of texts is put together');
  return pair;
}

/**
 * @param first ids of the first text. Default: they are read
 * @throws AppError context_length_exceeded
 */
export function tokenizePairs(
  { first: firstText, pairs, truncate }: PairTexts,
  reader: PairReader,
  first = tokenizeFirst(firstText, reader),
): PairTokens {
  const seconds = pairs.map((pair) => readSecond(pair, { first, truncate, reader }));
  const inputTokens = sum(seconds.map(({ ids }) => first.length + ids.length));
  return { first, seconds, inputTokens };
}

/** The first text is never cut. @returns ids without specials @throws AppError context_length_exceeded */
export function tokenizeFirst(text: string, reader: PairReader): Int32Array {
  const room = roomOf(reader);
  const ids = reader.tokenizer.encode(text, countedTokens(room));
  if (ids.length <= room) return ids;
  const { manifest } = reader;
  const [name, param] = manifest.type === 'decision' ? ['The state', 'state'] : ['query', 'query'];
  const other = manifest.type === 'decision' ? 'what is asked of it' : 'a document';
  throw exceedsContext(
    `${name} has ${tellTokens(ids.length, room)} tokens; ${manifest.id} takes at most ${room}, with ${other}.`,
    param,
  );
}

/** Content tokens of both texts. */
function roomOf(reader: PairReader): number {
  return reader.manifest.limits.pair_tokens - countFrameIds(pairFrame(reader));
}

interface SecondReading {
  readonly first: Int32Array;
  readonly truncate: boolean;
  readonly reader: PairReader;
}

function readSecond({ place, second }: PairItem, { first, truncate, reader }: SecondReading) {
  const room = roomOf(reader);
  const left = room - first.length;
  // Where nothing of it would be left it is not cut but refused.
  const mayCut = truncate && left > 0;
  const ids = reader.tokenizer.encode(second, mayCut ? left : countedTokens(room) - first.length);
  if (ids.length <= left) return { place, ids, isTruncated: false };
  if (mayCut) return { place, ids: ids.subarray(0, left), isTruncated: true };
  const told = tellTokens(first.length + ids.length, room);
  const { id, type } = reader.manifest;
  const [names, param, advice] =
    type === 'decision'
      ? [`The state and an option of questions[${place}]`, `questions[${place}]`, '']
      : [`query and documents[${place}]`, `documents[${place}]`, ' "truncate": true has documents cut.'];
  throw exceedsContext(`${names} have ${told} tokens together; ${id} takes at most ${room}.${advice}`, param);
}
