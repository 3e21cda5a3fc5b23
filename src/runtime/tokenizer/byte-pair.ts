// The BPE model: symbols of a piece merged by rank, as the reference library merges them, in time n log n.

import { ByteTokens } from './byte-tokens.ts';
import { isCodePoint } from './code-point-runs.ts';
import type { IdList } from './id-list.ts';
import { MergeQueue } from './merge-queue.ts';
import { PairTable } from './pair-table.ts';
import { LONGEST_PIECE, tooLongPiece } from './too-long-piece.ts';
import { unsupported } from './unsupported.ts';

/** Two tokens that become one. */
export type Merge = string | readonly [string, string];

/** From the least rank on. */
export interface Merges extends Iterable<Merge> {
  readonly length: number;
}

export interface BytePairFile {
  readonly vocab?: Readonly<Record<string, number>>;
  readonly merges?: Merges;
  readonly dropout?: number | null;
  readonly unk_token?: string | null;
  readonly continuing_subword_prefix?: string | null;
  readonly end_of_word_suffix?: string | null;
  readonly fuse_unk?: boolean;
  readonly byte_fallback?: boolean;
  readonly ignore_merges?: boolean;
}

export interface BytePairOptions {
  /** Ids that no text gives. */
  readonly specials: ReadonlySet<number>;
  /** Whether pieces are read byte by byte, each byte one character of the vocabulary. */
  readonly isByteLevel: boolean;
}

/** Ids of short pieces are kept: words come again. */
const [KEPT_PIECES, KEPT_CODE_UNITS] = [16_384, 40];
/** Room for so many stays. */
const KEPT_SYMBOLS = 1 << 18;
/** No symbol: nothing stands there any more. */
const GONE = -1;

export class BytePair {
  /** By pair: the place of the merge in `#merged`. */
  readonly #ranks: PairTable;
  readonly #merged: Int32Array;
  /** Of tokens of one character; of all tokens where a whole piece may be one without a merge. */
  readonly #ids: ReadonlyMap<string, number>;
  readonly #symbolIds: Int32Array | undefined;
  readonly #byteTokens: ByteTokens | undefined;
  readonly #unknownId: number | undefined;
  readonly #fusesUnknown: boolean;
  readonly #ignoresMerges: boolean;
  #queue = new MergeQueue();
  readonly #kept = new Map<string, Int32Array>();
  /** Symbols of the piece, and their neighbours that are left. */
  #symbols = new Int32Array(256);
  #before = new Int32Array(256);
  #after = new Int32Array(256);
  /** Of bytes or of UTF-16 units. */
  readonly longestToken: number;
  /** Whether every text is known, so that a token never stands for more than `longestToken`. */
  readonly knowsAll: boolean;

  /** @throws StartError naming what is not supported */
  constructor(file: BytePairFile, { specials, isByteLevel }: BytePairOptions) {
    checkBytePair(file);
    const { vocab = {} } = file;
    const idOf = (token: string) => {
      const id = vocab[token];
      return id === undefined || specials.has(id) ? undefined : id;
    };
    this.#ignoresMerges = file.ignore_merges ?? false;
    const { ids, longest } = readTokens(vocab, (token) => this.#ignoresMerges || isCodePoint(token), specials);
    this.#ids = ids;
    this.longestToken = longest;
    this.#symbolIds = isByteLevel
      ? Int32Array.from(BYTE_CHARACTERS, (character) => idOf(character) ?? GONE)
      : undefined;
    this.#byteTokens = file.byte_fallback ? new ByteTokens(idOf) : undefined;
    this.#unknownId = file.unk_token ? file.vocab?.[file.unk_token] : undefined;
    this.#fusesUnknown = file.fuse_unk ?? false;
    this.knowsAll = this.#symbolIds?.every((id) => id !== GONE) ?? this.#byteTokens?.isWhole ?? false;
    if (isByteLevel && !this.knowsAll && file.byte_fallback) {
      throw unsupported('byte_fallback of a model that reads bytes and does not know every byte');
    }
    this.#ranks = new PairTable(file.merges?.length ?? 0);
    this.#merged = readMerges(file, specials, this.#ranks);
  }

  /** @param text well-formed @throws AppError context_length_exceeded */
  encode(text: string, ids: IdList): void {
    const kept = this.#kept.get(text);
    if (kept !== undefined) {
      ids.pushAll(kept);
      return;
    }
    const first = ids.length;
    this.#encodePiece(text, ids);
    if (text.length > KEPT_CODE_UNITS) return;
    if (this.#kept.size >= KEPT_PIECES) this.#kept.clear();
    this.#kept.set(text, ids.since(first));
  }

  #encodePiece(text: string, ids: IdList): void {
    const whole = this.#ignoresMerges ? this.#findWhole(text) : undefined;
    if (whole !== undefined) {
      ids.push(whole);
      return;
    }
    // So many known symbols are more tokens than are wanted.
    const enough = this.knowsAll ? (ids.room + 1) * this.longestToken : Number.POSITIVE_INFINITY;
    if (Math.min(text.length, enough) > LONGEST_PIECE) throw tooLongPiece();
    const count = this.#symbolIds ? this.#readBytes(text, this.#symbolIds, enough) : this.#readCharacters(text, enough);
    this.#merge(count);
    for (let place = 0; place >= 0 && place < count; place = this.#after[place] ?? -1)
      ids.push(this.#symbols[place] ?? 0);
    if (count > KEPT_SYMBOLS) this.#forget();
  }

  /** One long piece must not keep its memory for ever. */
  #forget(): void {
    this.#symbols = new Int32Array(256);
    this.#before = new Int32Array(256);
    this.#after = new Int32Array(256);
    this.#queue = new MergeQueue();
  }

  #findWhole(text: string): number | undefined {
    if (!this.#symbolIds) return this.#ids.get(text);
    let characters = '';
    for (const byte of Buffer.from(text)) characters += BYTE_CHARACTERS[byte] ?? '';
    return this.#ids.get(characters);
  }

  #readBytes(text: string, symbolIds: Int32Array, enough: number): number {
    const bytes = Buffer.from(text.length > enough ? text.slice(0, enough + 1) : text);
    const reader = this.#startReading();
    for (const byte of bytes.subarray(0, enough + 1)) {
      const id = symbolIds[byte] ?? GONE;
      if (id === GONE) reader.addUnknown();
      else reader.add(id);
    }
    return reader.end();
  }

  #readCharacters(text: string, enough: number): number {
    const reader = this.#startReading();
    let known = 0;
    for (const character of text) {
      const id = this.#ids.get(character);
      if (id !== undefined) {
        reader.add(id);
      } else {
        const bytes = this.#byteTokens?.read(character);
        if (bytes === undefined) {
          reader.addUnknown();
          continue;
        }
        for (const byteId of bytes) reader.addByte(byteId);
      }
      known += 1;
      if (known > enough) break;
    }
    return reader.end();
  }

  /** Unknown symbols wait until a known one comes: some models make one of several. */
  #startReading() {
    let [count, waiting] = [0, false];
    const put = (id: number) => {
      this.#reserve(count);
      this.#symbols[count] = id;
      count += 1;
    };
    const flush = () => {
      if (waiting) put(this.#unknownId ?? 0);
      waiting = false;
    };
    return {
      add: (id: number) => {
        flush();
        put(id);
      },
      addByte: put,
      addUnknown: () => {
        if (this.#unknownId === undefined) return;
        if (!this.#fusesUnknown) flush();
        waiting = true;
      },
      end: () => {
        flush();
        return count;
      },
    };
  }

  #reserve(place: number): void {
    if (place < this.#symbols.length) return;
    const symbols = this.#symbols;
    this.#symbols = new Int32Array(2 * place);
    this.#symbols.set(symbols);
    this.#before = new Int32Array(2 * place);
    this.#after = new Int32Array(2 * place);
  }

  /** The pair of least rank first, of equal ones the first; pairs that are no more are passed over. */
  #merge(count: number): void {
    const [symbols, before, after, queue] = [this.#symbols, this.#before, this.#after, this.#queue];
    for (let place = 0; place < count; place++) {
      before[place] = place - 1;
      after[place] = place + 1 < count ? place + 1 : -1;
      if (place > 0) this.#offer(place - 1, place);
    }
    while (queue.take()) {
      const { place, rank } = queue;
      const next = after[place] ?? -1;
      if (symbols[place] === GONE || next < 0) continue;
      const now = this.#ranks.get(symbols[place] ?? 0, symbols[next] ?? 0);
      // A pair that came since may make the same token: then it is merged at the old one's turn.
      if (now < 0 || this.#merged[now] !== this.#merged[rank]) continue;
      symbols[place] = this.#merged[rank] ?? 0;
      symbols[next] = GONE;
      const following = after[next] ?? -1;
      after[place] = following;
      if (following >= 0) before[following] = place;
      const preceding = before[place] ?? -1;
      if (preceding >= 0) this.#offer(preceding, place);
      if (following >= 0) this.#offer(place, following);
    }
  }

  #offer(left: number, right: number): void {
    const rank = this.#ranks.get(this.#symbols[left] ?? 0, this.#symbols[right] ?? 0);
    if (rank >= 0) this.#queue.put(rank, left);
  }
}

/** @throws StartError naming what is not supported */
export function checkBytePair(file: BytePairFile): void {
  if (file.dropout) throw unsupported('a BPE model with dropout');
  if (file.continuing_subword_prefix) throw unsupported('a BPE model with continuing_subword_prefix');
  if (file.end_of_word_suffix) throw unsupported('a BPE model with end_of_word_suffix');
}

function readTokens(
  vocab: Readonly<Record<string, number>>,
  isKept: (token: string) => boolean,
  specials: ReadonlySet<number>,
) {
  const ids = new Map<string, number>();
  let longest = 1;
  for (const token in vocab) {
    const id = vocab[token];
    if (id === undefined || specials.has(id)) continue;
    longest = Math.max(longest, token.length);
    if (isKept(token)) ids.set(token, id);
  }
  return { ids, longest };
}

/** Puts the rank of each pair into `ranks`. @returns by rank: what the pair becomes */
function readMerges({ vocab = {}, merges = [] }: BytePairFile, specials: ReadonlySet<number>, ranks: PairTable) {
  const becomes = new Int32Array(merges.length);
  let rank = -1;
  for (const merge of merges) {
    rank += 1;
    const [a = '', b = '', ...more] = typeof merge === 'string' ? merge.split(' ') : merge;
    const [left, right, merged] = [vocab[a], vocab[b], vocab[a + b]];
    if (left === undefined || right === undefined || merged === undefined || more.length > 0) {
      throw unsupported('a BPE model whose merges are not in its vocabulary');
    }
    becomes[rank] = merged;
    if (!specials.has(merged)) ranks.set(left, right, rank);
  }
  return becomes;
}

/** The character that stands for each byte: itself where it can be seen, else the next one from U+0100 on. */
const BYTE_CHARACTERS = makeByteCharacters();

function makeByteCharacters(): string[] {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const isSeen = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCharCode(isSeen ? byte : next++);
  });
}
