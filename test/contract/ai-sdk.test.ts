// Decisions as the unmodified `@ai-sdk/typesafe-ai` package sees them. Through `ai` it checks keys, sums, the most
// probable option and the mean level of every answer: in its newest release, and in the oldest that is supported.

import * as newest from 'ai';
import * as oldest from 'ai-oldest';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { createFakeEngine } from '../application/fake-engine.ts';
import { KEY } from '../application/test-server.ts';
import { type ContractServer, installedVersion, startContractServer } from './contract-server.ts';
import { openEvaluationModel } from './evaluation-model.ts';

let server: ContractServer;
beforeAll(async () => {
  server = await startContractServer();
});
afterAll(() => server.app.close());
beforeEach(() => {
  server.engine.decide = createFakeEngine().decide;
});

const kev = (apiKey = KEY) => openEvaluationModel({ apiKey, baseURL: server.chatBaseUrl });
const state = 'I was charged twice.';
const options = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`option ${i}`, null]));
const questions = {
  team: { type: 'choice', instructions: 'Which team?', criteria: { billing: 'payments', technical: null } },
  many: { type: 'choice', instructions: 'Which?', criteria: options(255) },
  one: { type: 'choice', instructions: 'Which?', criteria: options(1) },
  anger: { type: 'score', instructions: 'How angry?', criteria: ['calm', 'cross', 'furious'] },
  refund: { type: 'boolean', instructions: 'Is a refund asked for?', criteria: { true: 'yes' } },
} as const;

it('the AI SDK is tested in the version that is pinned', () => {
  expect(installedVersion('@ai-sdk/typesafe-ai')).toBe('3.0.0');
  expect(installedVersion('ai')).toBe('7.0.173');
  // The release of `ai` that this provider was made for.
  expect(installedVersion('ai-oldest')).toBe('7.0.103');
});

/** What a client sent as `state`, in the order of its calls. */
function recordStates(): unknown[] {
  const states: unknown[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    states.push(JSON.parse(String(init?.body)).state);
    return await realFetch(url, init);
  });
  return states;
}
const realFetch = globalThis.fetch;
afterEach(() => vi.restoreAllMocks());

describe.each([
  { release: 'the newest', ai: newest, sends: [{ type: 'text', text: state }] },
  { release: 'the oldest', ai: oldest, sends: state },
])('$release release of ai', ({ ai, sends }) => {
  const { APICallError, RetryError } = ai;
  const evaluate = ai.experimental_evaluate as typeof newest.experimental_evaluate;

  it('sends the state in a form of its own, and the engine reads its text', async () => {
    const sent = recordStates();
    const read: string[] = [];
    const { decide } = createFakeEngine();
    server.engine.decide = (job, caller) => {
      read.push(job.state);
      return decide(job, caller);
    };
    await evaluate({ model: kev(), state, questions });
    expect(sent).toEqual([sends]);
    expect(read).toEqual([state]);
  });

  it('pass every check of the client', async () => {
    const { answers, usage, response, providerMetadata } = await evaluate({ model: kev(), state, questions });
    expect(answers.team).toEqual({
      type: 'choice',
      choice: 'technical',
      probabilities: { billing: 1 / 3, technical: 2 / 3 },
    });
    expect(answers.anger.score).toBeCloseTo(4 / 3, 12);
    expect(answers.refund).toEqual({ type: 'boolean', probability: 1 / 3 });
    expect(usage).toEqual({ inputTokens: 15, outputTokens: 0, totalTokens: 15 });
    expect(response.modelId).toBe('kev');
    expect(providerMetadata?.['typesafe']).toMatchObject({ confidence: { team: expect.closeTo(1 / 3, 12), one: 1 } });
  });

  it.each([
    ['an unknown key', 'ump_wrong', 401, 'The API key is not valid.'],
    ['an empty question', KEY, 400, 'question "q" has no instructions'],
  ])('%s', async (_what, apiKey, statusCode, message) => {
    const call = evaluate({
      model: kev(apiKey),
      state,
      questions: { q: { type: 'boolean', instructions: '' } },
      maxRetries: 0,
    });
    const error = await call.catch((thrown: unknown) => thrown);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode, message, isRetryable: false });
  });

  it('that may pass are tried again when retry-after-ms says', async () => {
    let calls = 0;
    const { decide: answer } = createFakeEngine();
    server.engine.decide = (job, caller) => {
      calls += 1;
      const full = new AppError('overloaded', 'Full.', { retryAfterMs: 10 });
      return calls < 3 ? Promise.reject(full) : answer(job, caller);
    };
    await evaluate({ model: kev(), state, questions, maxRetries: 2 });
    expect(calls).toBe(3);
  });

  it('that stay end in the last of them', async () => {
    server.engine.decide = () => Promise.reject(new AppError('overloaded', 'Full.', { retryAfterMs: 1 }));
    const error = await evaluate({ model: kev(), state, questions, maxRetries: 1 }).catch((thrown: unknown) => thrown);
    expect(RetryError.isInstance(error)).toBe(true);
    expect((error as newest.RetryError).lastError).toMatchObject({ statusCode: 503, message: 'Full.' });
  });
});

describe('a state of several parts', () => {
  const evaluate = newest.experimental_evaluate;
  const asked = { refund: questions.refund };

  it('is read as their texts, one under the other', async () => {
    const read: string[] = [];
    const { decide } = createFakeEngine();
    server.engine.decide = (job, caller) => {
      read.push(job.state);
      return decide(job, caller);
    };
    const parts = ['I was charged twice.', '', 'Please help.'].map((text) => ({ type: 'text', text }) as const);
    await evaluate({ model: kev(), state: parts, questions: asked });
    expect(read).toEqual(['I was charged twice.\n\nPlease help.']);
  });

  it.each([
    ['an object', { subject: 'Refund' }],
    [
      'a text beside an object',
      [{ type: 'text', text: 'A mail.' } as const, { type: 'json', value: { a: 1 } } as const],
    ],
  ])('that hold %s is refused in the words of the protocol', async (_what, structured) => {
    const call = evaluate({ model: kev(), state: structured, questions: asked, maxRetries: 0 });
    await expect(call).rejects.toMatchObject({ statusCode: 400, message: "The field 'state' must be a string." });
  });
});
