// Tokens a second of every tokenizer for BERT's models, one after the other in turns, on one thread, by CPU time of the
// process, calls included: `npm run bench:tokenizer`. Prose is cut from this repository's documents. Then the small
// tokenizers of other kinds, on prose and on what 8 MiB can cost at worst.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer as Library } from '@huggingface/tokenizers';
import { readFolderFile } from '../src/runtime/model-folder/folder-file.ts';
import { openTokenizer, tellTokenizer } from '../src/runtime/tokenizer/open-tokenizer.ts';
import { PipelineTokenizer } from '../src/runtime/tokenizer/pipeline-tokenizer.ts';
import { KINDS, readKind } from '../test/runtime/tokenizer/kinds.ts';
import { median } from './load/statistics.ts';
import { ROOT } from './machine/machine.ts';
import { type Cell, formatTable } from './pages/table.ts';

interface Contender {
  readonly name: string;
  /** @returns the number of tokens */
  count(text: string): number;
}

const ROUNDS = 9;
const ROUND_TOKENS = 40_000;
const ROUND_LEAST_MS = 40;
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'models/README.md', 'docs/guides/operations.md'];
const CHARACTERS_A_TOKEN = 4.4;

const modelFolder = join(ROOT, 'models/kev');

async function openContenders(): Promise<Contender[]> {
  const file = JSON.parse((await readFolderFile(modelFolder, 'tokenizer.json')).toString()) as {
    added_tokens: unknown;
  };
  const library = new Library({ ...file, added_tokens: [] }, {});
  const [native, script] = [await openTokenizer(modelFolder), await openTokenizer(modelFolder, 'javascript')];
  return [
    { name: 'native', count: (text) => native.encode(text).length },
    { name: 'javascript', count: (text) => script.encode(text).length },
    { name: 'library', count: (text) => library.encode(text, { add_special_tokens: false }).ids.length },
  ];
}

/** Sentences of the documents: lines of tables, code and headings are no prose. */
function readProse(): string {
  const lines = DOCUMENTS.flatMap((path) => readFileSync(join(ROOT, path), 'utf8').split('\n'));
  return lines.filter((line) => /^[A-Z][a-z]/.test(line) && !line.includes('|')).join(' ');
}

function cutTexts(text: string, tokens: number): string[] {
  const size = Math.round(tokens * CHARACTERS_A_TOKEN);
  const whole = text.repeat(Math.ceil((4 * size) / text.length));
  return Array.from({ length: Math.floor(whole.length / size) }, (_, place) =>
    whole.slice(place * size, (place + 1) * size),
  );
}

const MULTILINGUAL = [
  'Der Fluß fließt über Täler, Öfen und Äcker; L’été dernier, cœur et âme à Noël. ¿Cómo está el niño?',
  'Съешь ещё этих мягких французских булок, да выпей чаю. Ὀδυσσεύς, πολύτροπον.',
  '中文没有空格，标点在中间。日本語：カタカナ、ひらがな。한국어는 띄어쓰기가 있다.',
  'हिन्दी में लिखा हुआ। بسم الله الرحمن الرحيم. שלום עולם. ภาษาไทยไม่มีช่องว่าง Tiếng Việt 👩🏽‍🚀',
].join(' ');

/** Prose in the lengths of requests, other languages, and what somebody may send to make a server busy. */
function makeCorpora() {
  const prose = readProse();
  const lengths = [128, 512, 2000, 4000];
  return [
    ...lengths.map((tokens) => ({ name: `prose, ${tokens} tokens`, texts: cutTexts(prose, tokens) })),
    { name: 'many languages', texts: cutTexts(MULTILINGUAL, 512) },
    { name: 'words of 60 letters', texts: [Array.from({ length: 200 }, (_, i) => letters(i, 60)).join(' ')] },
    { name: 'one word of 12,000 letters', texts: [letters(1, 12_000)] },
    { name: 'combining marks alone', texts: ['\u0301\u0316\u0345\u302e'.repeat(3000)] },
    { name: 'a mark on every letter', texts: ['a\u0323\u0302e\u0301o\u0308 '.repeat(1500)] },
  ];
}

function letters(seed: number, length: number): string {
  const codes = Array.from({ length }, (_, i) => 97 + ((seed * 31 + i * i * 7 + i) % 26));
  return String.fromCharCode(...codes);
}

/** @returns tokens and characters a second of CPU time */
function measure({ count }: Contender, texts: readonly string[]) {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  const started = process.cpuUsage();
  let [tokens, passes, spentMs] = [0, 0, 0];
  while (passes === 0 || (tokens < ROUND_TOKENS && spentMs < ROUND_LEAST_MS) || spentMs < ROUND_LEAST_MS / 4) {
    for (const text of texts) tokens += count(text);
    passes += 1;
    const { user, system } = process.cpuUsage(started);
    spentMs = (user + system) / 1000;
  }
  return { tokens: (1000 * tokens) / spentMs, characters: (1000 * passes * characters) / spentMs };
}

const contenders = await openContenders();
process.stdout.write(
  `tokenizer: ${await tellTokenizer()}; millions a second of CPU time, medians of ${ROUNDS} rounds\n`,
);
const rows: Cell[][] = [];
for (const { name, texts } of makeCorpora()) {
  for (const contender of contenders) measure(contender, texts);
  const rounds = Array.from({ length: ROUNDS }, () => contenders.map((contender) => measure(contender, texts)));
  for (const unit of ['tokens', 'characters'] as const) {
    const millions = contenders.map((_, place) => median(rounds.map((round) => (round[place]?.[unit] ?? 0) / 1e6)));
    const [native = 0, script = 0, library = 0] = millions;
    rows.push([name, unit, ...millions, native / script, native / library]);
  }
}
const names = contenders.map(({ name }) => name);
process.stdout.write(`${formatTable([['text', 'of', ...names, '× javascript', '× library'], ...rows])}\n`);

/** Of each kind: a text that is over in a few characters, or never. */
const BODY_BYTES = 8 * 1024 * 1024;
const BODY_TOKENS = 8192;
const WORST = [
  'x',
  '中文没有空格',
  ' ',
  '\n',
  '\u0301\u0316',
  '\u0323\u0307a',
  '\u0001',
  '\0',
  '\u200d',
  '\u{12000}',
  'a  ',
];

function worstOf(tokenizer: PipelineTokenizer): Cell[] {
  const times = WORST.map((part) => {
    const text = part.repeat(BODY_BYTES / Buffer.byteLength(part));
    const started = performance.now();
    const { length } = tokenizer.encode(text, BODY_TOKENS);
    return { part, length, milliseconds: performance.now() - started };
  });
  const { part, milliseconds } = times.reduce((worst, one) => (one.milliseconds > worst.milliseconds ? one : worst));
  return [milliseconds, JSON.stringify(part)];
}

const kindRows = KINDS.map((kind): Cell[] => {
  const [file, texts] = [readKind(kind), [cutTexts(readProse(), 512), cutTexts(MULTILINGUAL, 512)]];
  const tokenizer = new PipelineTokenizer(file);
  const library = new Library({ ...file, added_tokens: [] }, {});
  const contenders: Contender[] = [
    { name: 'ours', count: (text) => tokenizer.encode(text).length },
    { name: 'library', count: (text) => library.encode(text, { add_special_tokens: false }).ids.length },
  ];
  for (const some of texts) for (const contender of contenders) measure(contender, some);
  const speeds = texts.flatMap((some) => contenders.map((contender) => measure(contender, some).tokens / 1e6));
  return [kind, ...speeds, ...worstOf(tokenizer)];
});
const kindHeads = ['kind', 'prose', 'library', 'many languages', 'library', '8 MiB at worst, ms', 'of'];
process.stdout.write(`\n${formatTable([kindHeads, ...kindRows])}\n`);
