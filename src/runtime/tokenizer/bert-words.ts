// BERT's normaliser and pre-tokeniser: text to words, the same words as the reference library for every code point.
// Vocabulary and ids are tokenizer.ts's.

import { BLANK, DROPPED, IDEOGRAPH, MARK, PUNCTUATION, SEPARATOR } from './character-classes.ts';
import { buildFlags } from './code-point-runs.ts';
import { stripMarkRun } from './mark-runs.ts';
import { isAscii, lowercase } from './normalizers.ts';

const Flag = { dropped: 1, blank: 2, separator: 4, punctuation: 8, mark: 16, ideograph: 32 } as const;

export interface BertWordOptions {
  readonly lowercase: boolean;
  readonly stripAccents: boolean;
}

/** One byte of flags per code point; 1.1 MB, made once per thread. */
const flags = buildFlags([
  [DROPPED, Flag.dropped],
  [BLANK, Flag.blank],
  [SEPARATOR, Flag.separator],
  [PUNCTUATION, Flag.punctuation],
  [MARK, Flag.mark],
  [IDEOGRAPH, Flag.ideograph],
]);

function flagsOf(codePoint: number): number {
  return flags[codePoint] ?? 0;
}

/** Code units that are read at once, so that a limit of tokens ends the reading of a long text. */
const READ_CODE_UNITS = 8192;
/** After one of these no word goes on, and no mark is sorted to the other side. */
const WORD_END = /[\t\n\r !-/:-@[-`{-~\u4e00-\u9fff]/g;

/** Pieces of a text whose words, one piece after the other, are the words of the text. A longer word is one piece. */
export function* cutText(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > READ_CODE_UNITS) {
    WORD_END.lastIndex = start + READ_CODE_UNITS;
    if (!WORD_END.test(text)) break;
    yield text.slice(start, WORD_END.lastIndex);
    start = WORD_END.lastIndex;
  }
  if (start < text.length) yield text.slice(start);
}

/** Words of a text, punctuation marks among them, in order. Lone surrogates count as U+FFFD, which is dropped. */
export function splitBertWords(text: string, options: BertWordOptions): string[] {
  const words: string[] = [];
  let word = '';
  for (const character of normalize(text.toWellFormed(), options)) {
    const kind = flagsOf(character.codePointAt(0) ?? 0);
    if ((kind & (Flag.separator | Flag.punctuation)) === 0) {
      word += character;
      continue;
    }
    if (word !== '') words.push(word);
    word = '';
    if (kind & Flag.punctuation) words.push(character);
  }
  if (word !== '') words.push(word);
  return words;
}

function normalize(text: string, options: BertWordOptions): string {
  const clean = cleanText(text);
  const stripped = options.stripAccents ? stripAccents(clean) : clean;
  return options.lowercase ? lowercase(stripped) : stripped;
}

function cleanText(text: string): string {
  let clean = '';
  for (const character of text) {
    const kind = flagsOf(character.codePointAt(0) ?? 0);
    if (kind & Flag.dropped) continue;
    if (kind & Flag.blank) clean += ' ';
    else if (kind & Flag.ideograph) clean += ` ${character} `;
    else clean += character;
  }
  return clean;
}

function stripAccents(text: string): string {
  if (isAscii(text)) return text;
  let stripped = '';
  for (const { text: piece, isRun } of piecesForNormalizing(text)) {
    if (isRun) stripped += stripMarkRun(piece, isMark);
    else for (const character of piece.normalize('NFD')) if (!isMark(character)) stripped += character;
  }
  return stripped;
}

function isMark(character: string): boolean {
  return (flagsOf(character.codePointAt(0) ?? 0) & Flag.mark) !== 0;
}

/** Longest text that is normalised at once. */
const PIECE_CODE_UNITS = 256;
const MARK_OR_HALF = /^[\p{M}\udc00-\udfff]/u;

interface Piece {
  readonly text: string;
  /** Longer than a piece, of a character and nothing but marks. */
  readonly isRun: boolean;
}

/**
 * Normalising sorts each run of combining marks, in time quadratic in the run. Cut before a character that is no mark, a
 * text normalises piece by piece to the same.
 */
function* piecesForNormalizing(text: string): Generator<Piece> {
  const isInside = (cut: number) => cut < text.length && MARK_OR_HALF.test(text.slice(cut, cut + 2));
  let start = 0;
  while (start < text.length) {
    let cut = Math.min(start + PIECE_CODE_UNITS, text.length);
    while (cut > start && isInside(cut)) cut -= 1;
    const isRun = cut === start;
    if (isRun) {
      cut = start + PIECE_CODE_UNITS;
      while (isInside(cut)) cut += 1;
    }
    yield { text: text.slice(start, cut), isRun };
    start = cut;
  }
}
