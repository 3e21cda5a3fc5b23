// The shipped models through real workers: the same question on the same document gives the same bits whatever runs
// beside it, and the order of options changes nothing.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChoiceQuestion, Question } from '../../src/domain/question.ts';
import { createLocalEngine, type LocalEngine } from '../../src/engine/local-engine.ts';

const modelFolder = (id: string) => fileURLToPath(new URL(`../../models/${id}`, import.meta.url));
const caller = { keyId: 'key', signal: new AbortController().signal };
const document = 'I was charged twice for my subscription and nobody answers. The parcel came late, too. '.repeat(30);
const department: ChoiceQuestion = {
  type: 'choice',
  instructions: 'Which team should handle this?',
  options: [
    { name: 'billing', description: 'payments, refunds' },
    { name: 'technical', description: 'bugs, outages' },
    { name: 'shipping', description: null },
    { name: '__proto__', description: '' },
  ],
};
const angry: Question = {
  type: 'noul',
  instructions: 'Is the customer angry?',
  whenFalse: null,
  whenTrue: 'they complain',
};
const urgency: Question = {
  type: 'score',
  instructions: 'How urgent is it?',
  levels: ['can wait', 'today', 'at once'],
};
const manyOptions: ChoiceQuestion = {
  type: 'choice',
  instructions: 'Which product?',
  options: Array.from({ length: 255 }, (_, i) => ({
    name: `product ${i}`,
    description: `the one with number ${i} on it`,
  })),
};

let engine: LocalEngine;
let cacheFolder: string;

beforeAll(async () => {
  cacheFolder = await mkdtemp(join(tmpdir(), 'umpire-graphs-'));
  engine = await createLocalEngine({
    modelFolders: [modelFolder('kev'), modelFolder('text-embed-mini')],
    device: 'cpu',
    allowDeviceFallback: false,
    workers: 2,
    threadsPerWorker: 1,
    cacheFolder,
    stateCacheBytes: 0,
    queue: { maxJobs: 1000, maxCostMs: 600_000, deadlineMs: 100_000 },
    probe: { intervalMs: 0, timeoutMs: 60_000 },
    onEvent: () => undefined,
  });
  await engine.ready;
});

afterAll(async () => {
  await engine.drain();
  await rm(cacheFolder, { recursive: true, force: true });
});

const decide = (questions: readonly Question[], state = document) =>
  engine.ticketFor({ modelId: 'kev', state, questions }, caller).run();
const answerOf = async (question: Question, state = document) => (await decide([question], state)).answers[0];

describe('kev', () => {
  it('answers with probabilities that sum to one', async () => {
    const { answers } = await decide([department, angry, urgency]);
    const [choice, , score] = answers;
    if (choice?.type !== 'choice' || score?.type !== 'score') throw new Error('answers of other types');
    const total = choice.probabilities.reduce((sum, { probability }) => sum + probability, 0);
    expect(total).toBeCloseTo(1, 9);
    expect(score.probabilities.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9);
  });

  it('gives the same bits alone and beside other questions', async () => {
    const alone = await Promise.all([department, angry, urgency].map((question) => answerOf(question)));
    expect((await decide([urgency, department, manyOptions, angry])).answers).toEqual([
      alone[2],
      alone[0],
      expect.anything(),
      alone[1],
    ]);
  });

  it('gives the same bits under load', async () => {
    const alone = await answerOf(department);
    const crowd = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        i % 2 === 0 ? answerOf(department) : answerOf(angry, document.slice(i * 7)),
      ),
    );
    for (const answer of crowd.filter((_, i) => i % 2 === 0)) expect(answer).toEqual(alone);
  });

  it('gives the same bits whatever the order of the options, also over several chunks', async () => {
    for (const question of [department, manyOptions]) {
      const answer = await answerOf(question);
      const reversed = await answerOf({ ...question, options: [...question.options].reverse() });
      if (answer?.type !== 'choice' || reversed?.type !== 'choice') throw new Error('answers of other types');
      expect(reversed).toEqual({ ...answer, probabilities: [...answer.probabilities].reverse() });
    }
  });

  it('counts content once: state, instructions, options', async () => {
    const alone = (await decide([department])).inputTokens;
    const stateTokens = (
      await decide([{ ...department, instructions: '', options: [{ name: '', description: null }] }])
    ).inputTokens;
    const both = (await decide([department, department])).inputTokens;
    expect(both - alone).toBe(alone - stateTokens);
  });

  it.each([
    ['an empty text', ''],
    ['control characters', 'a\u0000b\u0007c'],
    ['a lone surrogate', 'a\ud800b'],
    ['special tokens', '[CLS] [SEP] [MASK] [PAD] [UNK]'],
    ['right-to-left text', 'שלום مرحبا'],
    ['emoji', '👩‍👩‍👧 🇩🇪 👍🏽'],
    ['100,000 letters without a space', 'x'.repeat(100_000)],
  ])('answers about %s', async (_name, text) => {
    const { answers } = await decide([{ ...department, instructions: text.slice(0, 500) }], text);
    const [choice] = answers;
    if (choice?.type !== 'choice') throw new Error('an answer of another type');
    expect(choice.probabilities.every(({ probability }) => probability >= 0 && probability <= 1)).toBe(true);
  });

  it('takes 8,192 tokens of state and not one more', async () => {
    const { answers, inputTokens } = await decide([angry], 'a '.repeat(8192));
    expect([answers.length, inputTokens > 8192]).toEqual([1, true]);
    await expect(decide([angry], 'a '.repeat(8193))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: 'The state has 8193 tokens; kev takes at most 8192.',
      param: 'state',
    });
  });

  it('refuses more than 32,768 tokens of questions', async () => {
    const long: Question = { ...angry, instructions: 'a '.repeat(16_400) };
    await expect(decide([long, long])).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: expect.stringMatching(/^The questions have 3\d{4} tokens in all; kev takes at most 32768\.$/),
      param: 'questions',
    });
  });

  it('reads instructions of more than a window', async () => {
    const long = { ...department, instructions: 'Which team should handle this case of a customer? '.repeat(60) };
    const [alone, again] = [await answerOf(long), (await decide([angry, long])).answers[1]];
    expect(again).toEqual(alone);
  });
});

describe('text-embed-mini', () => {
  const embed = (inputs: readonly (string | readonly number[])[], dimensions?: number) =>
    engine.ticketFor({ modelId: 'text-embed-mini', inputs, dimensions, encoding: 'float' }, caller).run();

  it('gives the same bits alone and in a large call', async () => {
    const texts = Array.from({ length: 300 }, (_, i) => `text number ${i} `.repeat((i % 9) + 1));
    const { embeddings, inputTokens } = await embed(texts);
    for (const place of [0, 8, 150, 299]) {
      expect((await embed([texts[place] ?? ''])).embeddings[0]).toEqual(embeddings[place]);
    }
    expect([embeddings.length, inputTokens > 300]).toEqual([300, true]);
  });

  it('takes token arrays, and refuses ids it does not know', async () => {
    expect((await embed([[7592, 2088]])).embeddings).toEqual((await embed(['hello world'])).embeddings);
    await expect(embed(['x', [7592, 30_522]])).rejects.toMatchObject({ code: 'invalid_request', param: 'input[1]' });
    await expect(embed([[-1]])).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('cuts dimensions and normalises again', async () => {
    const [full, cut] = [(await embed(['hello'])).embeddings[0], (await embed(['hello'], 64)).embeddings[0]];
    if (!(full instanceof Float32Array) || !(cut instanceof Float32Array)) throw new Error('no vectors');
    const norm = Math.hypot(...full.slice(0, 64));
    expect(cut).toHaveLength(64);
    for (const [i, value] of cut.entries()) expect(value).toBeCloseTo((full[i] ?? 0) / norm, 6);
  });

  it('writes little-endian float32 as base64', async () => {
    const job = { modelId: 'text-embed-mini', inputs: ['hello'], dimensions: undefined, encoding: 'base64' } as const;
    const [text] = (await engine.ticketFor(job, caller).run()).embeddings;
    const bytes = Buffer.from(String(text), 'base64');
    const [vector] = (await embed(['hello'])).embeddings;
    expect(Array.from({ length: 384 }, (_, i) => bytes.readFloatLE(4 * i))).toEqual([...(vector ?? [])]);
  });

  it('refuses an input over its limit, and says how long it is', async () => {
    expect((await embed(['a '.repeat(254)])).inputTokens).toBe(254);
    await expect(embed(['ok', 'a '.repeat(255)])).rejects.toMatchObject({
      code: 'context_length_exceeded',
      message: 'input[1] has 255 tokens; text-embed-mini takes at most 254. "truncate": true has the first 254 read.',
      param: 'input[1]',
    });
  });
});
