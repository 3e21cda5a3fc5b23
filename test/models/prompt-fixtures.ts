// Requests of all shapes and the rows our code makes of them, for comparison with the training code's own.
// `node test/models/prompt-fixtures.ts` writes them to test/models/fixtures/prompts.json.

import { readFileSync, writeFileSync } from 'node:fs';
import { BertTokenizer } from '../../src/runtime/bert-tokenizer.ts';
import {
  countQuestionTokens,
  cutWindows,
  type PromptLimits,
  prepareQuestion,
  tokenizeQuestion,
} from '../../src/runtime/families/prompt.ts';
import { type DecisionCase, toQuestion } from '../../src/runtime/golden.ts';

type GoldenQuestion = DecisionCase['questions'][number];

interface Request {
  readonly limits: PromptLimits;
  readonly state: string;
  readonly questions: readonly GoldenQuestion[];
}

const root = new URL('../../', import.meta.url);
export const fixtureUrl = new URL('test/models/fixtures/prompts.json', root);

const kev: PromptLimits = { windowTokens: 256, maxWindowIndex: 63, branchTokens: 512, branchScores: 2_097_152 };
/** So small that everything is cut. */
const tiny: PromptLimits = { windowTokens: 16, maxWindowIndex: 2, branchTokens: 40, branchScores: 1500 };

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

const requests: readonly Request[] = [
  { limits: kev, state: 'I was charged twice.', questions: [billing, yes, urgency] },
  { limits: kev, state: '', questions: [billing, plainYes] },
  { limits: kev, state: sentence.repeat(60), questions: [billing, odd, longQuestion] },
  { limits: kev, state: 'short', questions: [many] },
  { limits: kev, state: 'lone \ud83d surrogate and [CLS]', questions: [odd, urgency] },
  { limits: tiny, state: sentence.repeat(3), questions: [billing, odd, yes, urgency, longQuestion] },
  { limits: tiny, state: 'antidisestablishmentarianism'.repeat(3), questions: [plainYes] },
  { limits: { ...tiny, branchScores: 10 }, state: sentence, questions: [billing] },
];

/** Requests with everything the model would be fed, in the names of the training code. */
export function buildPromptFixtures(): unknown[] {
  const file: unknown = JSON.parse(readFileSync(new URL('models/text-embed-mini/tokenizer.json', root), 'utf8'));
  const tokenizer = new BertTokenizer(file);
  return requests.map((request) => ({ ...toGolden(request), prepared: prepare(request, tokenizer) }));
}

function toGolden({ limits, state, questions }: Request) {
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

function prepare({ limits, state, questions }: Request, tokenizer: BertTokenizer) {
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
    return { type, windows, chunks: rows, order, levels, input_tokens: countQuestionTokens(question) };
  });
  const inputTokens = tokenized.reduce((total, question) => total + countQuestionTokens(question), stateIds.length);
  return { windows, questions: prepared, input_tokens: inputTokens };
}

if (import.meta.main) {
  const lines = buildPromptFixtures().map((fixture) => JSON.stringify(fixture));
  writeFileSync(fixtureUrl, `[\n${lines.join(',\n')}\n]\n`);
}
