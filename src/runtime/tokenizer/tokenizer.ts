// What the model families need of a tokenizer. No text is ever read as a special token and nothing is cut; special ids
// are placed by the families.

import type { Frames } from './frames.ts';

export interface SpecialIds {
  readonly cls: number;
  readonly sep: number;
}

/** Ids of several texts, one after the other. */
export interface EncodedTexts {
  readonly ids: Int32Array;
  /** `[texts]`: where the ids of each text end. */
  readonly ends: Int32Array;
}

export interface Tokenizer {
  /** What stands around a text and around a pair. */
  readonly frames: Frames;
  /** Ids are 0 to `vocabularySize` − 1. */
  readonly vocabularySize: number;
  /**
   * Ids without specials.
   * @param limit reading stops soon after there are more ids than this; the length is then above `limit`, and no more is
   *   known of the text
   */
  encode(text: string, limit?: number): Int32Array;
  /** @param limit of each text, as for `encode` */
  encodeAll(texts: readonly string[], limit?: number): EncodedTexts;
  /** @param token an added token, such as `[MASK]` */
  idOf(token: string): number | undefined;
}

/** A tokenizer that cuts words into pieces and knows which pieces go on with a word. */
export interface WordPieceTokenizer extends Tokenizer {
  /** What stands before and after every sequence of BERT. */
  readonly special: SpecialIds;
  /** Whether the token goes on with a word that an earlier one began. */
  isContinuation(id: number): boolean;
}

export function isWordPiece(tokenizer: Tokenizer): tokenizer is WordPieceTokenizer {
  return 'isContinuation' in tokenizer;
}

/** `encodeAll` of a tokenizer that has nothing better than one text after the other. */
export function encodeEach(texts: readonly string[], encode: (text: string) => Int32Array): EncodedTexts {
  const parts = texts.map(encode);
  const ends = new Int32Array(parts.length);
  let total = 0;
  for (const [index, { length }] of parts.entries()) {
    total += length;
    ends[index] = total;
  }
  const ids = new Int32Array(total);
  for (const [index, part] of parts.entries()) ids.set(part, (ends[index] ?? 0) - part.length);
  return { ids, ends };
}
