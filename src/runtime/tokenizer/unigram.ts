// The Unigram model: the likeliest cut of a piece into tokens, as the reference library finds it, its sums in the same
// order. A long piece is read stretch by stretch: where no token spans a place, every cut passes it.

import { ByteTokens } from './byte-tokens.ts';
import type { IdList } from './id-list.ts';
import { TokenTrie } from './token-trie.ts';
import { unsupported } from './unsupported.ts';

export interface UnigramFile {
  readonly vocab?: readonly (readonly [token: string, score: number])[];
  readonly unk_id?: number | null;
  readonly byte_fallback?: boolean;
}

/** What a character that no token has costs below the least likely token. */
const UNKNOWN_PENALTY = 10;

interface Stretch {
  /** Where it begins in the piece. */
  readonly start: number;
  /** Of what comes before it. */
  readonly score: number;
}

export class Unigram {
  readonly #trie: TokenTrie;
  readonly #scores: Float64Array;
  readonly #unknownId: number;
  readonly #unknownScore: number;
  readonly #byteTokens: ByteTokens | undefined;
  readonly longestToken: number;
  /** Of the best cut to each place, counted from the start of the stretch: its score, last token and where that begins. */
  #best = new Float64Array(1024);
  #lastIds = new Int32Array(1024);
  #lastStarts = new Int32Array(1024).fill(-1);
  #used = 0;
  /** Ends of the tokens of a cut, the last one first. */
  #cut = new Int32Array(1024);
  #cutLength = 0;

  /** @param specials ids that no text gives @throws StartError naming what is not supported */
  constructor(file: UnigramFile, specials: ReadonlySet<number>) {
    const vocabulary = requireVocabulary(file);
    const canRead = (token: string, id: number) => token !== '' && !specials.has(id);
    this.#trie = new TokenTrie(vocabulary.length);
    let longest = 1;
    for (const [id, [token]] of vocabulary.entries()) {
      if (!canRead(token, id)) continue;
      this.#trie.add(token, id);
      longest = Math.max(longest, token.length);
    }
    this.longestToken = longest;
    this.#scores = Float64Array.from(vocabulary, ([, score]) => score);
    this.#unknownId = file.unk_id ?? 0;
    this.#unknownScore =
      this.#scores.reduce((least, score) => Math.min(least, score), Number.POSITIVE_INFINITY) - UNKNOWN_PENALTY;
    this.#byteTokens = file.byte_fallback ? findByteTokens(vocabulary) : undefined;
  }

  /** @param text well-formed */
  encode(text: string, ids: IdList): void {
    const target = { ids, unknown: new UnknownRun() };
    const stretch = { start: 0, score: 0 };
    let checkAt = this.#farEnough(ids);
    let [place, furthest] = [0, 0];
    this.#clear();
    while (place < text.length && !ids.isOver) {
      if (place === furthest && place > stretch.start) {
        const score = this.#best[place - stretch.start] ?? 0;
        this.#emit(text, { start: stretch.start, end: place }, target);
        stretch.start = place;
        stretch.score = score;
        checkAt = place + this.#farEnough(ids);
      } else if (place > checkAt) {
        if (this.#isEnough(place - stretch.start, ids)) break;
        checkAt += place - stretch.start;
      }
      furthest = Math.max(furthest, this.#reach(text, place, stretch));
      place += isPair(text, place) ? 2 : 1;
    }
    if (ids.isOver) return;
    this.#emit(text, { start: stretch.start, end: place }, target);
    this.#endUnknown(text, place, target);
  }

  /** Whether the stretch up to a place has more tokens than are wanted. */
  #isEnough(place: number, ids: IdList): boolean {
    this.#trace(place);
    return this.#countTokens() > ids.room;
  }

  /** A stretch of this length has more tokens than are wanted, unless many are unknown. */
  #farEnough(ids: IdList): number {
    return (ids.room + 1) * this.longestToken;
  }

  /** Enters what begins at a place. @returns the furthest end */
  #reach(text: string, place: number, stretch: Stretch): number {
    const at = place - stretch.start;
    const score = at === 0 ? stretch.score : (this.#best[at] ?? 0);
    const next = place + (isPair(text, place) ? 2 : 1);
    let [node, furthest, isCharacterKnown] = [0, next, false];
    for (let end = place; end < text.length; ) {
      node = this.#trie.step(node, text.charCodeAt(end));
      if (node < 0) break;
      end += 1;
      const id = this.#trie.idAt(node);
      if (id < 0) continue;
      this.#enter(end - stretch.start, at, { id, score: (this.#scores[id] ?? 0) + score });
      furthest = Math.max(furthest, end);
      if (end === next) isCharacterKnown = true;
    }
    if (!isCharacterKnown) {
      this.#enter(next - stretch.start, at, { id: this.#unknownId, score: this.#unknownScore + score });
    }
    return furthest;
  }

  #clear(): void {
    for (let at = 0; at <= this.#used; at++) this.#lastStarts[at] = -1;
    this.#used = 0;
  }

  #enter(end: number, start: number, { id, score }: { readonly id: number; readonly score: number }): void {
    this.#open(end);
    this.#used = Math.max(this.#used, end);
    if ((this.#lastStarts[end] ?? -1) >= 0 && score <= (this.#best[end] ?? 0)) return;
    this.#best[end] = score;
    this.#lastIds[end] = id;
    this.#lastStarts[end] = start;
  }

  /** Makes room for a place of the stretch. */
  #open(place: number): void {
    if (place < this.#best.length) return;
    const [best, lastIds, lastStarts] = [this.#best, this.#lastIds, this.#lastStarts];
    this.#best = new Float64Array(2 * place);
    this.#lastIds = new Int32Array(2 * place);
    this.#lastStarts = new Int32Array(2 * place).fill(-1);
    this.#best.set(best);
    this.#lastIds.set(lastIds);
    this.#lastStarts.set(lastStarts);
  }

  /** Writes the tokens of the best cut from the start of the stretch to `end` into `#cut`, the last one first. */
  #trace(end: number): void {
    this.#cutLength = 0;
    for (let at = end; at > 0; at = this.#lastStarts[at] ?? 0) {
      if (this.#cutLength === this.#cut.length) {
        const longer = new Int32Array(2 * this.#cutLength);
        longer.set(this.#cut);
        this.#cut = longer;
      }
      this.#cut[this.#cutLength] = at;
      this.#cutLength += 1;
    }
  }

  /** Tokens of the cut; unknown ones in a row count as one. */
  #countTokens(): number {
    let [count, wasUnknown] = [0, true];
    for (let row = this.#cutLength - 1; row >= 0; row--) {
      const isUnknown = this.#lastIds[this.#cut[row] ?? 0] === this.#unknownId;
      if (!isUnknown || !wasUnknown) count += 1;
      wasUnknown = isUnknown;
    }
    return count;
  }

  /** Gives the tokens of the stretch, and frees its places for the next one. */
  #emit(
    text: string,
    { start, end }: { readonly start: number; readonly end: number },
    { ids, unknown }: Output,
  ): void {
    this.#trace(end - start);
    for (let row = this.#cutLength - 1; row >= 0; row--) {
      const at = this.#cut[row] ?? 0;
      const id = this.#lastIds[at] ?? 0;
      const first = start + (this.#lastStarts[at] ?? 0);
      if (id === this.#unknownId) {
        unknown.begin(first);
      } else {
        this.#endUnknown(text, first, { ids, unknown });
        ids.push(id);
      }
    }
    this.#clear();
  }

  /** Unknown characters in a row are one token, unless they are known byte by byte. */
  #endUnknown(text: string, end: number, { ids, unknown }: Output): void {
    const start = unknown.end();
    if (start < 0) return;
    const id = this.#look(text, start, end);
    const bytes = id < 0 ? this.#byteTokens?.read(text.slice(start, end)) : undefined;
    if (bytes !== undefined) ids.pushAll(bytes);
    else ids.push(id < 0 ? this.#unknownId : id);
  }

  #look(text: string, start: number, end: number): number {
    if (end - start > this.longestToken) return -1;
    let node = 0;
    for (let place = start; place < end && node >= 0; place++) node = this.#trie.step(node, text.charCodeAt(place));
    return node < 0 ? -1 : this.#trie.idAt(node);
  }
}

interface Output {
  readonly ids: IdList;
  readonly unknown: UnknownRun;
}

/** Where unknown characters began that have not ended. */
class UnknownRun {
  #start = -1;

  begin(start: number): void {
    if (this.#start < 0) this.#start = start;
  }

  /** @returns −1 when there are none */
  end(): number {
    const start = this.#start;
    this.#start = -1;
    return start;
  }
}

/** @throws StartError naming what is not supported */
export function requireVocabulary({ vocab, unk_id: unknownId }: UnigramFile) {
  if (!Array.isArray(vocab)) throw unsupported('a Unigram model without a list of tokens');
  if (typeof unknownId !== 'number') throw unsupported('a Unigram model without an unknown token');
  return vocab as readonly (readonly [string, number])[];
}

function findByteTokens(vocabulary: readonly (readonly [token: string, score: number])[]): ByteTokens {
  const ids = new Map<string, number>();
  for (const [id, [token]] of vocabulary.entries()) if (token.startsWith('<0x')) ids.set(token, id);
  return new ByteTokens((token) => ids.get(token));
}

function isPair(text: string, place: number): boolean {
  return (text.codePointAt(place) ?? 0) > 0xffff;
}
