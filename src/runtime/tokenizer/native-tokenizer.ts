// BERT's WordPiece by the C++ addon: the same ids as bert-tokenizer.ts, which does the work where there is no addon.
// Vocabularies are kept by the process, one for all threads.

import type { NativeAddon, NativeHandle } from '../native.ts';
import { parseBertFile } from './bert-file.ts';
import { type FrameFile, type Frames, readAddedIds, readFrames } from './frames.ts';
import type { EncodedTexts, SpecialIds, WordPieceTokenizer } from './tokenizer.ts';

/** Ids that come without a second call: all windows of most texts. */
const TARGET_IDS = 4096;

export interface TokenPlace {
  readonly id: number;
  /** UTF-16 units of the text; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

export class NativeTokenizer implements WordPieceTokenizer {
  readonly special: SpecialIds;
  readonly frames: Frames;
  readonly vocabularySize: number;
  readonly #addon: NativeAddon;
  readonly #handle: NativeHandle;
  readonly #addedIds: ReadonlyMap<string, number>;
  readonly #continues: Uint8Array;
  readonly #target = new Int32Array(TARGET_IDS);

  /** @param handle of the file's vocabulary @param file parsed tokenizer.json */
  constructor(addon: NativeAddon, handle: NativeHandle, file: unknown) {
    this.#addon = addon;
    this.#handle = handle;
    this.frames = readFrames(file as FrameFile);
    this.#addedIds = readAddedIds(file as FrameFile);
    const { clsId, sepId, continues } = addon.describe(handle);
    this.special = { cls: clsId, sep: sepId };
    this.vocabularySize = continues.length;
    this.#continues = continues;
  }

  idOf(token: string): number | undefined {
    return this.#addedIds.get(token);
  }

  isContinuation(id: number): boolean {
    return this.#continues[id] === 1;
  }

  encode(text: string, limit = Number.POSITIVE_INFINITY): Int32Array {
    return this.#taken(this.#addon.encode(this.#handle, text, limit, this.#target));
  }

  encodeAll(texts: readonly string[], limit = Number.POSITIVE_INFINITY): EncodedTexts {
    const ends = new Int32Array(texts.length);
    const count = this.#addon.encodeAll(this.#handle, texts, limit, ends, this.#target);
    return { ids: this.#taken(count), ends };
  }

  /** Tokens and where they stand in the text. */
  encodeWithSpans(text: string): TokenPlace[] {
    const rows = this.#addon.encodeWithSpans(this.#handle, text);
    return Array.from({ length: rows.length / 3 }, (_, row) => {
      const [id = 0, start = 0, end = 0] = rows.subarray(3 * row, 3 * row + 3);
      return { id, start, end };
    });
  }

  #taken(count: number): Int32Array {
    if (count <= this.#target.length) return this.#target.slice(0, count);
    const ids = new Int32Array(count);
    this.#addon.take(ids);
    return ids;
  }
}

/**
 * Gives the process a vocabulary.
 * @param digest of the file @param file parsed tokenizer.json
 * @throws StartError when it is not BERT's WordPiece
 */
export function addVocabulary(addon: NativeAddon, digest: string, file: unknown): NativeHandle {
  const { ids, ...rest } = parseBertFile(file);
  return addon.create(digest, { ...rest, tokens: Object.keys(ids), ids: Int32Array.from(Object.values(ids)) });
}
