// How many tokens a text has, near enough, where the upstream does not say: a weight for each kind of character. The
// weights were fitted to the vocabulary `o200k_base`; token-estimate.test.ts says how far they are off. Pure.

/** Hundredths of a token, so that sums over the pieces of a text are exact whatever the pieces. */
const LATIN_LETTER = 22;
const DIGIT = 50;
const SPACE = 8;
const OTHER_ASCII = 65;
const ACCENTED_LATIN_LETTER = 120;
const VIETNAMESE_LETTER = 60;
const CHINESE_JAPANESE_KOREAN = 80;
const OTHER_ALPHABET = 38;
/** Symbols and pictures outside the alphabets; half of one that is two code units. */
const SYMBOL = 100;

const CODE_UNITS = 65_536;
/** Code unit → weight, as ranges from the one code unit to before the next. */
const RANGES: readonly (readonly [from: number, weight: number])[] = [
  [0x0000, SPACE],
  [0x0021, OTHER_ASCII],
  [0x0030, DIGIT],
  [0x003a, OTHER_ASCII],
  [0x0041, LATIN_LETTER],
  [0x005b, OTHER_ASCII],
  [0x0061, LATIN_LETTER],
  [0x007b, OTHER_ASCII],
  [0x0080, ACCENTED_LATIN_LETTER],
  [0x0250, OTHER_ALPHABET],
  [0x1100, CHINESE_JAPANESE_KOREAN],
  [0x1200, OTHER_ALPHABET],
  [0x1e00, VIETNAMESE_LETTER],
  [0x1f00, OTHER_ALPHABET],
  [0x2000, SYMBOL],
  [0x2e80, CHINESE_JAPANESE_KOREAN],
  [0xa4d0, OTHER_ALPHABET],
  [0xac00, CHINESE_JAPANESE_KOREAN],
  [0xd800, SYMBOL],
  [0xf900, CHINESE_JAPANESE_KOREAN],
  [0xfb00, OTHER_ALPHABET],
  [0xfe30, CHINESE_JAPANESE_KOREAN],
];

const WEIGHTS = new Uint8Array(CODE_UNITS);
for (const [from, weight] of RANGES) WEIGHTS.fill(weight, from);

/** A text's share of the tokens it is part of, in hundredths: the sum over pieces is that of the whole. */
export function measureText(text: string): number {
  let hundredths = 0;
  for (let at = 0; at < text.length; at++) hundredths += WEIGHTS[text.charCodeAt(at)] ?? SYMBOL;
  return hundredths;
}

/** Whole tokens, rounded up. */
export function toTokens(hundredths: number): number {
  return Math.ceil(hundredths / 100);
}
