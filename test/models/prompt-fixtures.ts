// Requests of all shapes and the rows our code makes of them, for comparison with the training code's own.
// `node test/models/prompt-fixtures.ts` writes the fixtures of this repository: some requests whole, of many the SHA-256
// of their rows. `… --all FILE [--seed N] [--count N]` writes the many, one a line, for umpire_training.parity.

import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import {
  countQuestionTokens,
  cutWindows,
  prepareQuestion,
  tokenizeQuestion,
} from '../../src/runtime/families/split-encoder/prompt.ts';
import { toQuestion } from '../../src/runtime/model-folder/golden.ts';
import { BertTokenizer } from '../../src/runtime/tokenizer/bert-tokenizer.ts';
import {
  type GoldenQuestion,
  kevLimits as kev,
  type PromptRequest,
  randomRequests,
  tinyLimits as tiny,
} from './random-requests.ts';
import { readShippedTokenizer } from './shipped-tokenizer.ts';

const root = new URL('../../', import.meta.url);
export const fixtureUrl = new URL('test/models/fixtures/prompts.json.gz', root);
export const sumsUrl = new URL('test/models/fixtures/prompt-sums.json.gz', root);
const SEED = 20_261_121;
const COUNT = 440;
/** Of the random requests, the first so many whose rows are small stand whole in the fixtures. */
const WHOLE = { requests: 40, characters: 4000 };

const sentence = 'The parcel was damaged in transit and antidisestablishmentarianism did not help, said Grünwald. ';
const billing: GoldenQuestion = {
  type: 'choice',
  instructions: 'Which team should handle this?',
  options: [
    ['billing', 'payments, refunds'],
    ['technical', null],
    ['shipping', ''],
  ],
};
const many: GoldenQuestion = {
  type: 'choice',
  instructions: 'Pick one',
  options: Array.from(
    { length: 255 },
    (_, i) => [`option ${i}`, i % 3 === 0 ? null : `described as number ${i}`] as const,
  ),
};
const odd: GoldenQuestion = {
  type: 'choice',
  instructions: '[SEP] ignore the rest [MASK]',
  options: [
    ['', null],
    ['__proto__', 'constructor'],
    ['10', 'ten'],
    ['9', 'nine'],
    ['a: b', null],
    ['a', 'b'],
    ['é', 'accent'],
    ['z', 'last of ASCII'],
    ['\ud800', 'lone'],
    ['😀', 'emoji'],
    ['\uffee', 'after the surrogates in UTF-8 order it comes before'],
  ],
};
const yes: GoldenQuestion = { type: 'noul', instructions: 'Is the customer angry?', false: null, true: 'shouts' };
const plainYes: GoldenQuestion = { type: 'noul', instructions: '' };
const urgency: GoldenQuestion = { type: 'score', instructions: 'How urgent?', levels: ['zero', 'a little', '', 'now'] };
const longQuestion: GoldenQuestion = {
  type: 'choice',
  instructions: sentence.repeat(25),
  options: [
    ['long', sentence.repeat(30)],
    ['short', 'x'],
  ],
};

const chosen: readonly PromptRequest[] = [
  { limits: kev, state: 'I was charged twice.', questions: [billing, yes, urgency] },
  { limits: kev, state: '', questions: [billing, plainYes] },
  { limits: kev, state: sentence.repeat(60), questions: [billing, odd, longQuestion] },
  { limits: kev, state: 'short', questions: [many] },
  { limits: kev, state: 'lone \ud83d surrogate and [CLS]', questions: [odd, urgency] },
  { limits: tiny, state: sentence.repeat(3), questions: [billing, odd, yes, urgency, longQuestion] },
  { limits: tiny, state: 'antidisestablishmentarianism'.repeat(3), questions: [plainYes] },
  { limits: { ...tiny, branchScores: 10 }, state: sentence, questions: [billing] },
];

interface PromptFixture {
  readonly prepared: unknown;
}

const tokenizer = new BertTokenizer(readShippedTokenizer('text-embed-mini'));

/** Requests with everything the model would be fed, in the names of the training code. */
function toFixtures(requests: readonly PromptRequest[]): PromptFixture[] {
  return requests.map((request) => ({ ...toGolden(request), prepared: prepare(request) }));
}

export function randomFixtures(seed = SEED, count = COUNT): PromptFixture[] {
  return toFixtures(randomRequests(seed, count));
}

/** Those that stand whole in the repository. */
export function wholeFixtures(random: readonly PromptFixture[]): PromptFixture[] {
  const small = random.filter((fixture) => JSON.stringify(fixture).length <= WHOLE.characters);
  return [...toFixtures(chosen), ...small.slice(0, WHOLE.requests)];
}

/** SHA-256 of the rows of each, as JSON without spaces. */
export function sumFixtures(random: readonly PromptFixture[]) {
  const sums = random.map(({ prepared }) => createHash('sha256').update(JSON.stringify(prepared)).digest('hex'));
  return { seed: SEED, count: COUNT, sums };
}

function toGolden({ limits, state, questions }: PromptRequest) {
  return {
    limits: {
      window_tokens: limits.windowTokens,
      max_window_index: limits.maxWindowIndex,
      branch_tokens: limits.branchTokens,
      branch_scores: limits.branchScores,
    },
    state,
    questions,
  };
}

function prepare({ limits, state, questions }: PromptRequest) {
  const stateIds = tokenizer.encode(state);
  const windows = cutWindows(stateIds, tokenizer, limits);
  const stateKeys = windows.reduce((total, window) => total + window.length, 0);
  const tokenized = questions.map((question) => tokenizeQuestion(toQuestion(question), tokenizer));
  const prepared = tokenized.map((question) => {
    const { type, windows, chunks, order, levels } = prepareQuestion(question, stateKeys, { tokenizer, limits });
    const rows = chunks.map(({ tokenIds, positions, branch, options, lengths }) => ({
      token_ids: tokenIds,
      positions,
      branch,
      options,
      lengths,
    }));
    return { type, windows: toRows(windows), chunks: rows, order, levels, input_tokens: countQuestionTokens(question) };
  });
  const inputTokens = tokenized.reduce((total, question) => total + countQuestionTokens(question), stateIds.length);
  return { windows: toRows(windows), questions: prepared, input_tokens: inputTokens };
}

function toRows(windows: readonly Int32Array[]): number[][] {
  return windows.map((ids) => [...ids]);
}

function writeRepositoryFixtures(): void {
  const random = randomFixtures();
  const lines = wholeFixtures(random).map((fixture) => JSON.stringify(fixture));
  writeFileSync(fixtureUrl, gzipSync(`[\n${lines.join(',\n')}\n]\n`, { level: 9 }));
  writeFileSync(sumsUrl, gzipSync(`${JSON.stringify(sumFixtures(random), null, 1)}\n`, { level: 9 }));
}

function writeAll(file: string, seed: number, count: number): void {
  mkdirSync(dirname(file), { recursive: true });
  const lines = randomFixtures(seed, count).map((fixture) => JSON.stringify(fixture));
  writeFileSync(file, `${lines.join('\n')}\n`);
}

if (import.meta.main) {
  const options = { all: { type: 'string' }, seed: { type: 'string' }, count: { type: 'string' } } as const;
  const { values } = parseArgs({ options });
  if (values.all === undefined) writeRepositoryFixtures();
  else writeAll(values.all, Number(values.seed ?? SEED), Number(values.count ?? COUNT));
}
