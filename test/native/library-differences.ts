// Where @huggingface/tokenizers gives other ids than the reference library does, counted: `node
// test/native/library-differences.ts`. Ours stand for the reference, to which the tests hold them.

import { Tokenizer as Library } from '@huggingface/tokenizers';
import { BertTokenizer } from '../../src/runtime/tokenizer/bert-tokenizer.ts';
import { PipelineTokenizer } from '../../src/runtime/tokenizer/pipeline-tokenizer.ts';
import { readPackedJson } from '../models/packed-json.ts';
import { readShippedTokenizer } from '../models/shipped-tokenizer.ts';
import { readKind, KINDS as TOKENIZER_KINDS, textsOf } from '../runtime/tokenizer/kinds.ts';

interface Kind {
  readonly name: string;
  /** A character is of the first kind that it fits. */
  fits(character: string): boolean;
}

const FORMS = ['{}', 'a{}b', 'e\u0301{}'];
const SHOWN_RANGES = 6;

const file = readShippedTokenizer('kev');
const ours = new BertTokenizer(file);
const library = new Library({ ...file, added_tokens: [] }, {});

const KINDS: readonly Kind[] = [
  { name: 'private use and non-characters', fits: (character) => /\p{Co}|\p{Cn}/u.test(character) },
  { name: 'marks', fits: (character) => /\p{M}/u.test(character.normalize('NFD')) },
  { name: 'punctuation and symbols', fits: (character) => /\p{P}|\p{S}/u.test(character) },
  { name: 'white space and control characters', fits: (character) => /\s|\p{Cc}|\p{Cf}/u.test(character) },
  { name: 'ideographs', fits: (character) => /\p{Script=Han}/u.test(character) },
  { name: 'others', fits: () => true },
];

function isSame(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((id, place) => id === right[place]);
}

function idsOf(text: string): { wanted: number[]; given: number[] } {
  const given = library.encode(text, { add_special_tokens: false }).ids;
  return { wanted: [...ours.encode(text)], given };
}

/** `U+0300–U+0304 U+0310 …` */
function tellRanges(codePoints: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const codePoint of codePoints) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === codePoint - 1) last[1] = codePoint;
    else ranges.push([codePoint, codePoint]);
  }
  const hex = (codePoint: number) => `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
  const told = ranges.slice(0, SHOWN_RANGES).map(([from, to]) => (from === to ? hex(from) : `${hex(from)}–${hex(to)}`));
  return told.join(' ') + (ranges.length > SHOWN_RANGES ? ` and ${ranges.length - SHOWN_RANGES} more ranges` : '');
}

const found = new Map<string, Set<number>>();
for (const form of FORMS) {
  for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
    const character = String.fromCodePoint(codePoint);
    const { wanted, given } = idsOf(form.replace('{}', () => character));
    if (isSame(wanted, given)) continue;
    const name = KINDS.find((kind) => kind.fits(character))?.name ?? '';
    found.set(name, (found.get(name) ?? new Set()).add(codePoint));
  }
}
process.stdout.write('| what | code points with other ids | which |\n|---|---|---|\n');
for (const { name } of KINDS) {
  const codePoints = [...(found.get(name) ?? [])].sort((a, b) => a - b);
  if (codePoints.length > 0) process.stdout.write(`| ${name} | ${codePoints.length} | ${tellRanges(codePoints)} |\n`);
}

interface Group {
  readonly cases: readonly { readonly text: string }[];
}

const [shipped] = readPackedJson(new URL('fixtures/cases.json.br', import.meta.url)) as Group[];
const cases = shipped?.cases ?? [];
const different = cases.filter(({ text }) => {
  const { wanted, given } = idsOf(text);
  return !isSame(wanted, given);
});
process.stdout.write(
  `\n${different.length} of ${cases.length} texts of test/native/fixtures/cases.json.br have other ids.\n`,
);

process.stdout.write('\n| kind | texts | with other ids |\n|---|---|---|\n');
for (const kind of TOKENIZER_KINDS) {
  const kindFile = readKind(kind);
  const [own, theirs] = [new PipelineTokenizer(kindFile), new Library({ ...kindFile, added_tokens: [] }, {})];
  // Tokens that both would have to be told of are left out.
  const plain = kindFile.added_tokens.map(({ content }) => content);
  const texts = textsOf(kind).filter(({ text }) => plain.every((content) => !text.includes(content)));
  const others = texts.filter(({ text }) => {
    const given = theirs.encode(text, { add_special_tokens: false }).ids;
    return !isSame([...own.encode(text)], given);
  });
  process.stdout.write(`| ${kind} | ${texts.length} | ${others.length} |\n`);
}
