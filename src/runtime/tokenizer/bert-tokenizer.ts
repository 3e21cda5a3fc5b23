// BERT's WordPiece, written for this server: the ids of the reference library for every code point (the JavaScript
// library knows other Unicode tables), in time linear in the text. The addon behind native-tokenizer.ts does the same work
// faster where it could be built.

import { parseBertFile } from './bert-file.ts';
import { type BertWordOptions, cutText, splitBertWords } from './bert-words.ts';
import { type FrameFile, type Frames, readAddedIds, readFrames } from './frames.ts';
import { type EncodedTexts, encodeEach, type SpecialIds, type WordPieceTokenizer } from './tokenizer.ts';

export class BertTokenizer implements WordPieceTokenizer {
  readonly special: SpecialIds;
  readonly frames: Frames;
  readonly vocabularySize: number;
  readonly #addedIds: ReadonlyMap<string, number>;
  readonly #words: BertWordOptions;
  readonly #starts = new Map<string, number>();
  readonly #continuations = new Map<string, number>();
  readonly #continues: Uint8Array;
  readonly #unknownId: number;
  readonly #maxWordCharacters: number;
  readonly #longestToken: number;

  /** @param file parsed tokenizer.json @throws StartError when it is not BERT's WordPiece */
  constructor(file: unknown) {
    const { ids, prefix, lowercase, stripAccents, maxWordCharacters, ...special } = parseBertFile(file);
    this.#words = { lowercase, stripAccents };
    const entries = Object.entries(ids);
    this.vocabularySize = entries.reduce((size, [, id]) => Math.max(size, id + 1), 0);
    this.#continues = new Uint8Array(this.vocabularySize);
    let longest = 1;
    for (const [token, id] of entries) {
      if (token.startsWith(prefix)) {
        this.#continues[id] = 1;
        this.#continuations.set(token.slice(prefix.length), id);
      }
      this.#starts.set(token, id);
      longest = Math.max(longest, token.length);
    }
    this.#longestToken = longest;
    this.#unknownId = special.unknownId;
    this.#maxWordCharacters = maxWordCharacters;
    this.special = { cls: special.clsId, sep: special.sepId };
    this.frames = readFrames(file as FrameFile);
    this.#addedIds = readAddedIds(file as FrameFile);
  }

  idOf(token: string): number | undefined {
    return this.#addedIds.get(token);
  }

  isContinuation(id: number): boolean {
    return this.#continues[id] === 1;
  }

  /** A look-up never looks further than the longest token. */
  encode(text: string, limit = Number.POSITIVE_INFINITY): Int32Array {
    const ids: number[] = [];
    for (const piece of cutText(text)) {
      for (const word of splitBertWords(piece, this.#words)) this.#encodeWord(word, ids);
      if (ids.length > limit) break;
    }
    return Int32Array.from(ids);
  }

  encodeAll(texts: readonly string[], limit?: number): EncodedTexts {
    return encodeEach(texts, (text) => this.encode(text, limit));
  }

  /** Greedy longest match; a word that cannot be matched to its end is one unknown token. */
  #encodeWord(word: string, ids: number[]): void {
    const first = ids.length;
    if (isLongerThan(word, this.#maxWordCharacters)) {
      ids.push(this.#unknownId);
      return;
    }
    let start = 0;
    while (start < word.length) {
      const end = this.#matchAt(word, start, ids);
      if (end === start) {
        ids.length = first;
        ids.push(this.#unknownId);
        return;
      }
      start = end;
    }
  }

  /** Appends the longest token at `start`. @returns its end, or `start` when there is none */
  #matchAt(word: string, start: number, ids: number[]): number {
    const tokens = start === 0 ? this.#starts : this.#continuations;
    for (let end = Math.min(word.length, start + this.#longestToken); end > start; end--) {
      const id = tokens.get(word.slice(start, end));
      if (id !== undefined) {
        ids.push(id);
        return end;
      }
    }
    return start;
  }
}

function isLongerThan(word: string, characters: number): boolean {
  return word.length > characters && [...word.slice(0, 2 * characters + 2)].length > characters;
}
