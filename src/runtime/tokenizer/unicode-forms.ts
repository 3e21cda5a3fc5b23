// NFC, NFD, NFKC and NFKD as the reference library has them: by its Unicode tables, and in time linear in the text.

import { readRuns, toPatternRanges } from './code-point-runs.ts';
import { composeMarkRun } from './mark-runs.ts';
import { ISOLATED } from './reference-tables.ts';
import { LONGEST_MARK_RUN, tooLongPiece } from './too-long-piece.ts';

export type UnicodeForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

const isolatedRanges = toPatternRanges(readRuns(ISOLATED));
const HAS_ISOLATED = new RegExp(`[${isolatedRanges}]`, 'u');
const ISOLATED_CHARACTER = new RegExp(`([${isolatedRanges}])`, 'u');

/** Longest text that is normalised at once. */
const PIECE_CODE_UNITS = 256;
/** What composes with what stands before it, and the second half of a pair. */
const INSIDE = /^[\p{M}\u1160-\u11ff\udc00-\udfff]/u;

/** @param text well-formed @throws AppError context_length_exceeded for a million marks in a row */
export function normalizeForm(text: string, form: UnicodeForm): string {
  if (isPlain(text)) return text;
  if (!HAS_ISOLATED.test(text)) return normalizePieces(text, form);
  // An isolated character stays, and nothing passes it.
  const parts = text.split(ISOLATED_CHARACTER);
  return parts.map((part, place) => (place % 2 === 1 ? part : normalizePieces(part, form))).join('');
}

/** Below U+00A0 no form changes anything. */
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x9f) return false;
  return true;
}

/** The engine sorts each run of marks in time quadratic in the run, so long ones are ours. */
function normalizePieces(text: string, form: UnicodeForm): string {
  if (text.length <= PIECE_CODE_UNITS) return text.normalize(form);
  let normalized = '';
  let start = 0;
  while (start < text.length) {
    const cut = findCut(text, start);
    if (cut - start > LONGEST_MARK_RUN) throw tooLongPiece();
    const piece = text.slice(start, cut);
    normalized += piece.length > PIECE_CODE_UNITS ? composeMarkRun(piece, form) : piece.normalize(form);
    start = cut;
  }
  return normalized;
}

/** Before a character that goes on with nothing: at most a piece away, or else after the run that begins at `start`. */
function findCut(text: string, start: number): number {
  const isInside = (cut: number) => cut < text.length && INSIDE.test(text.slice(cut, cut + 2));
  let cut = Math.min(start + PIECE_CODE_UNITS, text.length);
  while (cut > start && isInside(cut)) cut -= 1;
  if (cut > start) return cut;
  cut = start + PIECE_CODE_UNITS;
  while (isInside(cut)) cut += 1;
  return cut;
}
