// Laya's packages, run by real workers: Laya's own numbers over the same weights, refusals exactly where Laya would cut,
// and the same bits in whatever order options come.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import { temperaturesOf } from '../../src/runtime/families/marker-encoder/laya-config.ts';
import { toQuestion } from '../../src/runtime/model-folder/golden.ts';
import { ANSWERS, ForeignModels } from './foreign-models.ts';

const { cases, config, edges, poison } = ANSWERS.laya;
const POISONED = 'poisoned-laya';

let models: ForeignModels;

beforeAll(async () => {
  const manifest = { temperatures: temperaturesOf(config) };
  models = await ForeignModels.load(
    [
      { fixture: 'laya', manifest },
      { fixture: 'laya', id: POISONED, poison },
    ],
    2,
  );
});

afterAll(() => models.close());

function decide(state: string, questions: readonly Question[], { worker = 0, modelId = 'laya' } = {}) {
  return models.pool.run({ kind: 'decide', modelId, state, questions }, worker);
}

const choiceOf = (...names: readonly string[]): Question => ({
  type: 'choice',
  instructions: 'Which?',
  options: names.map((name) => ({ name, description: null })),
});

describe("Laya's package", () => {
  it.each(cases)('answers and counts as Laya does: $state', async (golden) => {
    const questions = golden.questions.map(toQuestion);
    const { probabilities, inputTokens, keptTokens, isKept } = await decide(golden.state, questions);
    const { state } = golden;
    const counted = await models.pool.run({ kind: 'count-decision', modelId: 'laya', state, questions }, 1);
    expect([inputTokens, counted.inputTokens]).toEqual([golden.input_tokens, golden.input_tokens]);
    expect([keptTokens, isKept]).toEqual([0, false]);
    const [actual, expected] = [probabilities.flat(), golden.probabilities['fp32']?.flat() ?? []];
    expect(actual).toHaveLength(expected.length);
    const farthest = actual.reduce((most, value, place) => Math.max(most, Math.abs(value - (expected[place] ?? 9))), 0);
    expect(farthest).toBeLessThanOrEqual(1e-5);
  });

  it('answers a question the same alone, beside others and on any worker', async () => {
    const [golden = cases[0]] = cases;
    const questions = golden?.questions.map(toQuestion) ?? [];
    const state = golden?.state ?? '';
    expect(questions.length).toBeGreaterThan(5);
    const [together, elsewhere] = await Promise.all([
      decide(state, questions),
      decide(state, questions.toReversed(), { worker: 1 }),
    ]);
    const alone: (readonly number[])[] = [];
    for (const question of questions) alone.push(...(await decide(state, [question])).probabilities);
    expect(together.probabilities).toEqual(alone);
    expect(elsewhere.probabilities.toReversed()).toEqual(alone);
  });

  it('gives its options the same bits in whatever order they come', async () => {
    const names = ['late', 'a refund', 'billing', 'x', '日本', 'Late', 'é'];
    const order = [4, 2, 6, 0, 5, 3, 1];
    const ask = async (sorted: readonly string[]) => {
      const { probabilities } = await decide('The parcel is late.', [choiceOf(...sorted)]);
      return probabilities[0] ?? [];
    };
    const straight = await ask(names);
    expect(new Set(straight).size).toBe(names.length);
    expect(await ask(order.map((place) => names[place] ?? ''))).toEqual(order.map((place) => straight[place]));
  });

  it('is certain of a single option', async () => {
    const { probabilities } = await decide('late', [choiceOf('only')]);
    expect(probabilities).toEqual([[1]]);
  });

  it('refuses exactly what Laya would cut', async () => {
    const refused: boolean[] = [];
    for (const { state, question } of edges) {
      refused.push(
        await decide(state, [toQuestion(question)]).then(
          () => false,
          ({ code }: { code: string }) => code === 'context_length_exceeded' || Promise.reject(new Error(code)),
        ),
      );
    }
    expect(refused).toEqual(edges.map((edge) => !edge.is_whole));
    expect(refused.filter(Boolean)).toHaveLength(edges.length / 2);
  });

  it.each([
    ['a state', 'late '.repeat(300), choiceOf('a', 'b'), 'state', /^The state has \d+ tokens; laya takes at most 224/],
    [
      'a state beside a question',
      'late '.repeat(72),
      choiceOf('a', 'b'),
      'state',
      /beside questions\[7\] laya takes at most/,
    ],
    [
      'an option',
      '',
      choiceOf('a', 'late '.repeat(60)),
      'questions[7]',
      /^An option of questions\[7\] has \d+ tokens; laya takes at most 48\.$/,
    ],
    [
      'too many options',
      '',
      choiceOf(...Array.from({ length: 30 }, (_, i) => `late ${i} refund`)),
      'questions[7]',
      /takes at most 3 for each of 30/,
    ],
    [
      'instructions',
      '',
      { ...choiceOf('a'), instructions: 'late '.repeat(99) },
      'questions[7]',
      /^The instructions of questions\[7\] have/,
    ],
  ] as const)('says what is too long, and how long it is: %s', async (_, state, question, param, message) => {
    const task = { kind: 'decide', modelId: 'laya', state, questions: [question], places: [7] } as const;
    await expect(models.pool.run(task, 0)).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param,
      message: expect.stringMatching(message),
    });
  });

  it('refuses a question that has no room in a row, however short its document', async () => {
    const { inputTokens } = await decide('', [choiceOf('only')]);
    const narrow = await ForeignModels.load([
      {
        fixture: 'laya',
        manifest: { limits: { row_tokens: 40, question_tokens: 128, option_tokens: 48 } },
        cases: [
          {
            state: '',
            questions: [{ type: 'choice', instructions: 'Which?', options: [['only', null]] }],
            input_tokens: inputTokens,
            probabilities: { fp32: [[1]] },
          },
        ],
      },
    ]);
    const questions = [choiceOf('only'), choiceOf(...'abcdefghijkl')];
    const task = { kind: 'decide', modelId: 'laya', state: '', questions } as const;
    await expect(narrow.pool.run(task, 0).finally(() => narrow.close())).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'questions[1]',
      message: expect.stringMatching(/^questions\[1\] has \d+ tokens; laya takes at most 40/),
    });
  });

  it('never reads the name of a special token as one', async () => {
    const [typed, empty] = await Promise.all(['[SEP]', ''].map((state) => decide(state, [choiceOf('a', 'b')])));
    expect((typed?.inputTokens ?? 0) - (empty?.inputTokens ?? 0)).toBeGreaterThan(1);
  });

  it('fails where its graph gives no number, and answers the next one', async () => {
    const ask = (state: string, modelId: string) => decide(state, [choiceOf('late', 'never')], { modelId });
    await expect(ask(poison.text, POISONED)).rejects.toMatchObject({ code: 'internal_error' });
    const [sound, whole] = await Promise.all([ask('late', POISONED), ask('late', 'laya')]);
    expect(sound.probabilities).toEqual(whole.probabilities);
  });
});

describe('at the start', () => {
  it('workers tell the rows of every warm case', async () => {
    const { models: reports } = await models.pool.loaded;
    const [timed] = reports.find(({ modelId }) => modelId === 'laya')?.timedCases ?? [];
    const [, second] = cases;
    expect(timed?.rows).toHaveLength(second?.questions.length ?? 0);
    expect(timed?.tokens).toBe(timed?.rows?.reduce((sum, row) => sum + row, 0));
  });

  it.each([
    [
      'tokens that the tokenizer has not',
      { special_tokens: { cls: '<s>', sep: '[SEP]', mask: '[MASK]' } },
      /has no token <s>/,
    ],
    [
      'other temperatures than its answers',
      { temperatures: { ...temperaturesOf({ temperature: [5, 5, 5] }) } },
      /golden mismatch/,
    ],
  ])('a folder is refused with %s', async (_, manifest, message) => {
    await expect(ForeignModels.load([{ fixture: 'laya', manifest }])).rejects.toThrow(message);
  });
});
