// Patterns of a tokenizer.json (Oniguruma's) as the engine's, with the categories that the reference library gives to
// each code point. Only what reads the same in both is let through.

import { readRuns, toPatternRanges } from './code-point-runs.ts';
import { UNASSIGNED } from './reference-tables.ts';
import { tooLongPiece } from './too-long-piece.ts';
import { unsupported } from './unsupported.ts';

/** What the library's `ByteLevel` splits by. */
export const BYTE_LEVEL_PATTERN = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

const NAME = String.raw`\\[pP]\{(?:[LMNPSZ]|L[ultmo]|N[dlo]|M[nce])\}`;
const PARTS = [
  NAME,
  String.raw`\\[sSrnt]`,
  String.raw`\(\?(?:i?:|!)`,
  String.raw`[()|\]]`,
  String.raw`\[\^?(?!:)`,
  String.raw`(?:[?*+]|\{\d{1,2}(?:,\d{0,2})?\})(?![?*+])`,
  "[ '!-%,/0-9;<=>@A-Z_a-z~]",
];
const READABLE = new RegExp(`^(?:${PARTS.join('|')})+$`, 'u');

/** Stand-ins of no category, as long as what they stand for. */
const [NOBODY, NOBODY_BEYOND] = ['\ufffe', '\u{1fffe}'];
const NEWER = new RegExp(`(?=\\P{Cn})[${toPatternRanges(readRuns(UNASSIGNED))}]|\u0295`, 'gu');
const HAS_NEWER = new RegExp(NEWER.source, 'u');

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly isMatch: boolean;
}

/** Cuts a text into what matches and what lies between. */
export type FindSpans = (text: string) => Generator<Span>;

/** @throws StartError naming the pattern when it is not supported */
export function makePattern(source: string): FindSpans {
  if (!READABLE.test(source)) throw unsupported(`the pattern ${source}`);
  const translated = source.replaceAll(String.raw`\s`, String.raw`\p{White_Space}`);
  const pattern = new RegExp(translated.replaceAll(String.raw`\S`, String.raw`\P{White_Space}`), 'gu');
  return (text) => findInWindows(HAS_NEWER.test(text) ? text.replaceAll(NEWER, standIn) : text, pattern);
}

/** Matched at once, more where a match is longer. */
const WINDOW = 1 << 16;
/** A match that ends so far before the end of its window is the same in the whole text. */
const MARGIN = 1024;

/** @throws AppError context_length_exceeded when a match is longer than the engine's stack holds: 3.8 million units at least */
function* findInWindows(text: string, pattern: RegExp): Generator<Span> {
  let [start, done, window] = [0, 0, WINDOW];
  while (start < text.length) {
    const end = Math.min(start + window, text.length);
    const settled = end === text.length ? end : beforePair(text, end - MARGIN);
    let next = settled;
    for (const { index, 0: match } of findMatches(text.slice(start, end), pattern)) {
      const [first, last] = [start + index, start + index + match.length];
      if (first === last) continue;
      if (last > settled) {
        next = Math.min(first, settled);
        break;
      }
      if (first > done) yield { start: done, end: first, isMatch: false };
      yield { start: first, end: last, isMatch: true };
      done = last;
    }
    window = next > start ? WINDOW : 2 * window;
    start = next;
  }
  if (done < text.length) yield { start: done, end: text.length, isMatch: false };
}

function* findMatches(window: string, pattern: RegExp): Generator<RegExpExecArray> {
  try {
    yield* window.matchAll(pattern);
  } catch (error) {
    throw error instanceof RangeError ? tooLongPiece() : error;
  }
}

function beforePair(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit < 0xe000 ? place - 1 : place;
}

/** U+0295 was a small letter before it became one without case. */
function standIn(character: string): string {
  if (character === '\u0295') return '\u0250';
  return character.length === 2 ? NOBODY_BEYOND : NOBODY;
}

/** A pattern that is a text. */
export function makeTextPattern(searched: string): FindSpans {
  if (searched === '') throw unsupported('an empty pattern');
  return function* findSpans(text) {
    let start = 0;
    for (let index = text.indexOf(searched); index >= 0; index = text.indexOf(searched, start)) {
      if (index > start) yield { start, end: index, isMatch: false };
      start = index + searched.length;
      yield { start: index, end: start, isMatch: true };
    }
    if (start < text.length) yield { start, end: text.length, isMatch: false };
  };
}
