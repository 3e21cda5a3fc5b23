// Decisions as the unmodified `@ai-sdk/typesafe-ai` package sees them. Through `ai` it checks keys, sums, the most
// probable option and the mean level of every answer.

import { createTypeSafeAi } from '@ai-sdk/typesafe-ai';
import { APICallError, experimental_evaluate as evaluate, RetryError } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { createFakeEngine } from '../http/fake-engine.ts';
import { KEY } from '../http/test-server.ts';
import { type ContractServer, installedVersion, startContractServer } from './contract-server.ts';

let server: ContractServer;
beforeAll(async () => {
  server = await startContractServer();
});
afterAll(() => server.app.close());
beforeEach(() => {
  server.engine.decide = createFakeEngine().decide;
});

const kev = (apiKey = KEY) => createTypeSafeAi({ apiKey, baseURL: server.chatBaseUrl }).evaluationModel('kev');
const state = 'I was charged twice.';
const options = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`option ${i}`, null]));
const questions = {
  team: { type: 'choice', instructions: 'Which team?', criteria: { billing: 'payments', technical: null } },
  many: { type: 'choice', instructions: 'Which?', criteria: options(255) },
  one: { type: 'choice', instructions: 'Which?', criteria: options(1) },
  anger: { type: 'score', instructions: 'How angry?', criteria: ['calm', 'cross', 'furious'] },
  refund: { type: 'boolean', instructions: 'Is a refund asked for?', criteria: { true: 'yes' } },
} as const;

it('is tested with the version that is pinned', () => {
  expect(installedVersion('@ai-sdk/typesafe-ai')).toBe('3.0.0');
  // The release of `ai` that this provider was made for; later ones hand a provider the state in another form.
  expect(installedVersion('ai')).toBe('7.0.103');
});

describe('decisions', () => {
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
});

describe('errors', () => {
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
    expect((error as RetryError).lastError).toMatchObject({ statusCode: 503, message: 'Full.' });
  });
});
