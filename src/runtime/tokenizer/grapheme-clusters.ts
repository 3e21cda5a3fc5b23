// Extended grapheme clusters as the reference library cuts them, by its own Unicode tables. Flags are left out: a pair of
// regional indicators counts as two clusters here, which no normaliser of this server can tell from one.

import { buildFlags } from './code-point-runs.ts';
import { ATTACHED, BREAKING, CONSONANTS, LINKERS, PICTOGRAPHS, PREPENDED, SPACING } from './reference-tables.ts';

const Kind = {
  attached: 1,
  spacing: 2,
  prepended: 4,
  breaking: 8,
  pictograph: 16,
  consonant: 32,
  linker: 64,
  jamo: 128,
};
/** Two neighbours with none of these are two clusters. */
const JOINING = Kind.attached | Kind.prepended | Kind.jamo;
const [ZERO_WIDTH_NON_JOINER, ZERO_WIDTH_JOINER] = [0x200c, 0x200d];
const [CARRIAGE_RETURN, LINE_FEED] = [0x0d, 0x0a];

/** U+1100–11FF, U+A960–A97C, all syllables, U+D7B0–D7FB. */
const JAMO = '3cw,74 twg,t hv,8mc c,24';

const kinds = buildFlags([
  [ATTACHED, Kind.attached],
  [SPACING, Kind.spacing],
  [PREPENDED, Kind.prepended],
  [BREAKING, Kind.breaking],
  [PICTOGRAPHS, Kind.pictograph],
  [CONSONANTS, Kind.consonant],
  [LINKERS, Kind.linker],
  [JAMO, Kind.jamo],
]);

/** @returns where the cluster that begins at `start` ends, in UTF-16 units */
export function findClusterEnd(text: string, start: number): number {
  let last = codePointAt(text, start);
  let end = start + lengthOf(last);
  if (last === CARRIAGE_RETURN && text.charCodeAt(end) === LINE_FEED) return end + 1;
  if (kindOf(last) & Kind.breaking) return end;
  let chain = startChain(last);
  while (end < text.length) {
    const next = codePointAt(text, end);
    if (!isJoined(last, next, chain)) break;
    chain = kindOf(next) & Kind.attached ? goOn(chain, next) : startChain(next);
    last = next;
    end += lengthOf(next);
  }
  return end;
}

/** What the code points so far let the cluster go on with. */
interface Chain {
  /** A pictograph with marks, and whether U+200D came last. */
  readonly isPictograph: boolean;
  readonly isPictographJoined: boolean;
  /** A consonant with marks, and whether a linker is among them. */
  readonly isConsonant: boolean;
  readonly isLinked: boolean;
}

function startChain(codePoint: number): Chain {
  return {
    isPictograph: isPictograph(codePoint),
    isPictographJoined: false,
    isConsonant: (kindOf(codePoint) & Kind.consonant) !== 0,
    isLinked: false,
  };
}

/** Beyond the basic plane the engine's own property will do: no small cluster begins with such an emoji. */
function isPictograph(codePoint: number): boolean {
  if (codePoint < 0x10000) return (kindOf(codePoint) & Kind.pictograph) !== 0;
  return /\p{Extended_Pictographic}/u.test(String.fromCodePoint(codePoint));
}

function goOn(chain: Chain, attached: number): Chain {
  const isExtending = !(kindOf(attached) & Kind.spacing);
  const isJoiner = attached === ZERO_WIDTH_JOINER;
  const isConsonant = chain.isConsonant && isExtending && attached !== ZERO_WIDTH_NON_JOINER;
  return {
    isPictograph: chain.isPictograph && isExtending && !isJoiner,
    isPictographJoined: chain.isPictograph && isJoiner,
    isConsonant,
    isLinked: isConsonant && (chain.isLinked || (kindOf(attached) & Kind.linker) !== 0),
  };
}

function isJoined(last: number, next: number, chain: Chain): boolean {
  const [before, kind] = [kindOf(last), kindOf(next)];
  if (kind & Kind.breaking) return false;
  if (kind & Kind.attached || before & Kind.prepended) return true;
  if (chain.isPictographJoined && isPictograph(next)) return true;
  if (chain.isLinked && kind & Kind.consonant) return true;
  return (before & kind & Kind.jamo) !== 0 && isSyllable(last, next);
}

/** Leading, vowel and trailing parts of a Hangul syllable. */
function isSyllable(last: number, next: number): boolean {
  const [before, after] = [partOf(last), partOf(next)];
  switch (before) {
    case 'leading':
      return after !== 'trailing';
    case 'vowel':
    case 'open':
      return after === 'vowel' || after === 'trailing';
    default:
      return after === 'trailing';
  }
}

function partOf(jamo: number): 'leading' | 'vowel' | 'trailing' | 'open' | 'closed' {
  if (jamo < 0x1160 || (jamo >= 0xa960 && jamo < 0xac00)) return 'leading';
  if (jamo < 0x11a8 || (jamo >= 0xd7b0 && jamo < 0xd7c7)) return 'vowel';
  if (jamo < 0x1200 || jamo >= 0xd7cb) return 'trailing';
  return (jamo - 0xac00) % 28 === 0 ? 'open' : 'closed';
}

/** Whether a code point is a cluster of its own for certain, with what comes next. */
export function standsAlone(codePoint: number, next: number): boolean {
  if (codePoint === CARRIAGE_RETURN) return next !== LINE_FEED;
  return ((kindOf(codePoint) & (Kind.prepended | Kind.jamo)) | (kindOf(next) & JOINING)) === 0;
}

function kindOf(codePoint: number): number {
  return kinds[codePoint] ?? 0;
}

function codePointAt(text: string, place: number): number {
  return text.codePointAt(place) ?? 0;
}

function lengthOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1;
}
