// Requests of every shape from a seed: sizes, types of questions and texts that a tokenizer may stumble over. What is
// made of them is prompt-fixtures.ts's.

import type { PromptLimits } from '../../src/runtime/families/split-encoder/prompt.ts';
import type { DecisionCase } from '../../src/runtime/model-folder/golden.ts';
import { RandomSource } from './random-source.ts';

export type GoldenQuestion = DecisionCase['questions'][number];

export interface PromptRequest {
  readonly limits: PromptLimits;
  readonly state: string;
  readonly questions: readonly GoldenQuestion[];
}

export const kevLimits: PromptLimits = {
  windowTokens: 256,
  maxWindowIndex: 63,
  branchTokens: 512,
  branchScores: 1_048_576,
};
/** So small that everything is cut. */
export const tinyLimits: PromptLimits = { windowTokens: 16, maxWindowIndex: 2, branchTokens: 40, branchScores: 1500 };
const smallLimits: PromptLimits = { windowTokens: 64, maxWindowIndex: 7, branchTokens: 96, branchScores: 20_000 };

const WORDS = `the of and to in is was for on that it with as his they at be this have from or had by not but what all
were when we there can an your which their said if do will each about how up out them then many refund invoice parcel
broken customer charged twice subscription cancel server timeout restart deployed late delivery urgent password account
login weather alarm music please thanks great terrible awful happy angry sad unbelievably internationalization
incomprehensibilities antidisestablishmentarianism re-entered state-of-the-art don't O'Neill e-mail U.S. 3.14 €1,299.00
2024-03-18 10:45:07 #4471 user_id camelCaseName HTTP/2 https://example.com/a?b=c&d=%20 C:\\temp {"error": null} <b>
[ERROR] -> != 100% §5 ½ x²`.split(/\s+/);

const ODD_WORDS = [
  ...[
    'naïve',
    'Grünwald',
    'cafe\u0301',
    'A\u030angstro\u0308m',
    'ﬁnance',
    'İstanbul',
    'ſtraße',
    'ǅungla',
    'Ⅷ',
    'K\u0301',
  ],
  ...[
    '東京都',
    '支払いが二重です',
    '退款',
    '한국어',
    'ภาษาไทย',
    'हिन्दी',
    'العربية',
    'שלום',
    'Привет',
    'Ελλάδα',
    '𠜎𠜱',
    '㍿',
  ],
  ...['😀', '👩‍👩‍👧', '🏳️‍🌈', '🇩🇪', '👍🏽', '❤️', '\u{1f9ff}'],
  ...['[SEP]', '[CLS]', '[MASK]', '[PAD]', '[UNK]', '##ing', '##', '[unused1]', '<|endoftext|>', '</s>'],
  ...['\u0000', 'a\u0000b', '\u0007', '\u001b[31m', '\u007f', '\u0085', '\ufffd', '\ufeff', 'soft\u00adhyphen'],
  ...[
    '\u200b',
    'zero\u200bwidth',
    '\u202eabc',
    '\u2028',
    'no\u00a0break',
    '\u3000',
    '\ud800',
    'x\udc00y',
    '\udbff\ud800',
  ],
  ...['...', '?!?!', '—', '“quoted”', '«»', '`~^|', '____', '(((', '\\"', '،؟', '。、', '\u2009'],
];
const SEPARATORS = [' ', ' ', ' ', ' ', ' ', '  ', '\n', '\t', '\r\n', ', ', '. ', ''];

const LETTERS = 'abcdefghijklmnopqrstuvwxyzäéß0123456789';

/** The longest are read as one unknown word, the others as dozens of pieces. */
function longWord(random: RandomSource): string {
  const length = random.pick([30, 60, 99, 100, 101, 200, 1500]);
  return Array.from({ length }, () => random.pick([...LETTERS])).join('');
}

/** Any code points, unassigned and private ones among them. */
function anyCodePoints(random: RandomSource): string {
  const point = () => random.whole(0, random.pick([0x7f, 0x7ff, 0xffff, 0x10ffff]));
  return String.fromCodePoint(...Array.from({ length: random.whole(1, 12) }, point));
}

type TextStyle = 'plain' | 'mixed' | 'odd';

function word(random: RandomSource, style: TextStyle): string {
  const odd = { plain: 0, mixed: 0.1, odd: 0.8 }[style];
  if (!random.chance(odd)) return random.pick(WORDS);
  const kind = random.next();
  if (kind < 0.04) return longWord(random);
  return kind < 0.3 ? anyCodePoints(random) : random.pick(ODD_WORDS);
}

function text(random: RandomSource, words: number): string {
  const style = random.pick(['plain', 'plain', 'mixed', 'mixed', 'odd'] as const);
  const parts: string[] = [];
  for (let i = 0; i < words; i++) parts.push(word(random, style), style === 'plain' ? ' ' : random.pick(SEPARATORS));
  return parts.join('').slice(0, random.chance(0.9) ? -1 : undefined);
}

function description(random: RandomSource): string | null {
  if (random.chance(0.1)) return random.pick([null, '']);
  return text(random, random.chance(0.03) ? random.scaled(100, 400) : random.scaled(1, 15));
}

function choice(random: RandomSource, instructions: string, most: number): GoldenQuestion {
  const count = random.scaled(1, most);
  const described = random.pick([0, 0, 0.5, 1]);
  const names = new Set<string>(random.chance(0.05) ? [''] : []);
  while (names.size < count) {
    const name = text(random, random.whole(1, 3));
    names.add(names.has(name) || random.chance(0.2) ? `${name}_${names.size}` : name);
  }
  const options = [...names].map((name) => [name, random.chance(described) ? description(random) : null] as const);
  return { type: 'choice', instructions, options: options.map(([name, about]) => [name, about]) };
}

interface QuestionSize {
  readonly options: number;
  readonly instructionWords: number;
}

function question(random: RandomSource, size: QuestionSize): GoldenQuestion {
  const instructions = random.chance(0.04) ? '' : text(random, random.scaled(1, size.instructionWords));
  const kind = random.next();
  if (kind < 0.5) return choice(random, instructions, size.options);
  if (kind < 0.75) {
    const criterion = () => (random.chance(0.5) ? null : description(random));
    return { type: 'noul', instructions, false: criterion(), true: criterion() };
  }
  const levels = Array.from({ length: random.whole(2, 10) }, () => description(random) ?? '');
  return { type: 'score', instructions, levels };
}

/** The rare shapes come by turns, so that no seed leaves one out. */
function request(random: RandomSource, number: number): PromptRequest {
  const turn = number % 20;
  const limits = turn === 0 ? tinyLimits : turn === 1 || turn === 2 ? smallLimits : kevLimits;
  const stateWords = turn === 3 ? random.whole(600, 3000) : random.chance(0.06) ? 0 : random.scaled(1, 600);
  const size = { options: turn === 4 ? 200 : 24, instructionWords: turn === 5 || turn === 1 ? 900 : 40 };
  const asked = turn === 6 ? random.whole(8, 30) : random.whole(1, 4);
  const state = turn === 7 ? longWord(random).repeat(random.whole(1, 30)) : text(random, stateWords);
  const questions = Array.from({ length: asked }, () => question(random, size));
  if (turn === 4) questions.push({ ...choice(random, text(random, 8), 1), ...fullList(random) });
  return { limits, state, questions };
}

/** 150 to 200 options. */
function fullList(random: RandomSource): Pick<Extract<GoldenQuestion, { type: 'choice' }>, 'options'> {
  const count = random.whole(150, 200);
  return { options: Array.from({ length: count }, (_, i) => [`${text(random, 2)} ${i}`, null]) };
}

export function randomRequests(seed: number, count: number): PromptRequest[] {
  const random = new RandomSource(seed);
  return Array.from({ length: count }, (_, number) => request(random, number));
}
