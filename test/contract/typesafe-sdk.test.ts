// Decisions as the unmodified `@typesafe-ai/sdk` package sees them, over a real port.

import {
  APIConnectionError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  choice,
  InternalServerError,
  NotFoundError,
  noul,
  PermissionDeniedError,
  RateLimitError,
  type SystemOneRequest,
  score,
  TypeSafeClient,
  type TypeSafeClientConfig,
} from '@typesafe-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError, type ErrorCode, errorCatalogue } from '../../src/domain/errors.ts';
import { createFakeEngine } from '../application/fake-engine.ts';
import { KEV_KEY, KEY } from '../application/test-server.ts';
import { type ContractServer, installedVersion, startContractServer } from './contract-server.ts';

let server: ContractServer;
beforeAll(async () => {
  server = await startContractServer();
});
afterAll(() => server.app.close());
beforeEach(() => {
  server.engine.decide = createFakeEngine().decide;
});

function client(config: TypeSafeClientConfig = {}): TypeSafeClient {
  return new TypeSafeClient({
    baseURL: server.decisionBaseUrl,
    apiKey: KEY,
    defaultModel: 'kev',
    logLevel: 'off',
    retry: { maxRetries: 0 },
    ...config,
  });
}

/** Fails the first `failures` calls. @returns how often the engine has been asked */
function failFirst(failures: number, error: AppError): () => number {
  const { decide } = createFakeEngine();
  let calls = 0;
  server.engine.decide = (job, caller) => {
    calls += 1;
    return calls <= failures ? Promise.reject(error) : decide(job, caller);
  };
  return () => calls;
}

const request = {
  state: 'I was charged twice.',
  questions: {
    team: choice('Which team?', { billing: 'payments', technical: null }),
    anger: score('How angry?', ['calm', 'cross', 'furious']),
    refund: noul('Is a refund asked for?', { true: 'yes' }),
  },
} as const;

it('the decision package is tested in the version that is pinned', () => {
  expect(installedVersion('@typesafe-ai/sdk')).toBe('0.6.0');
});

describe('decisions', () => {
  it('are answered', async () => {
    const { model, answers, usage } = await client().systemOne(request);
    expect(model).toBe('kev');
    expect(Object.keys(answers)).toEqual(['team', 'anger', 'refund']);
    expect(answers.team.choice).toBe('technical');
    expect(answers.team.probabilities).toEqual({ billing: 1 / 3, technical: 2 / 3 });
    expect(answers.team.confidence).toBeCloseTo(1 / 3, 12);
    expect(answers.anger.score).toBeCloseTo(4 / 3, 12);
    expect(answers.anger.legend).toEqual({ 0: 'calm', 1: 'cross', 2: 'furious' });
    expect(answers.refund).toEqual({ type: 'noul', noul: 1 / 3 });
    expect(usage).toEqual({ input_tokens: 13, output_tokens: 0 });
  });

  it('carry the request id under the name that the client reads', async () => {
    const { requestId, response } = await client().systemOne(request).withResponse();
    expect(requestId).toBe(response.headers.get('x-request-id'));
    expect(requestId).toMatch(/^req_/);
  });

  it('forward fields that nobody knows', async () => {
    const more = { ...request, temperature: 0, metadata: null };
    expect((await client().systemOne(more)).model).toBe('kev');
  });
});

describe('models', () => {
  it('are listed', async () => {
    expect((await client().models.list()).map(({ name }) => name)).toEqual([
      'kev',
      'text-embed-mini',
      'reranker',
      'llama',
    ]);
    expect(await client({ apiKey: KEV_KEY }).models.list()).toEqual([
      { name: 'kev', description: 'A decision model.', release_date: '2026-11-21' },
    ]);
  });
});

describe('errors', () => {
  const CLASS_OF_STATUS: Record<number, typeof APIError> = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    429: RateLimitError,
    500: InternalServerError,
    502: InternalServerError,
    503: InternalServerError,
    504: InternalServerError,
  };

  it.each(Object.keys(errorCatalogue) as ErrorCode[])('%s reaches the caller with its words', async (code) => {
    failFirst(1, new AppError(code, 'Words for people.'));
    const error = await client()
      .systemOne(request)
      .catch((thrown: unknown) => thrown);
    const status = errorCatalogue[code].status;
    expect(error).toBeInstanceOf(CLASS_OF_STATUS[status] ?? APIError);
    expect(error).toMatchObject({ status, requestId: expect.stringMatching(/^req_/) });
    expect((error as APIError).message).toBe(`${status} Words for people.`);
  });

  it.each([
    ['an unknown key', { apiKey: 'ump_wrong' }, {}, AuthenticationError],
    ['an unknown model', {}, { model: 'nope' }, NotFoundError],
    ['a model of another type', {}, { model: 'text-embed-mini' }, BadRequestError],
    ['a model of other keys', { apiKey: KEV_KEY }, { model: 'llama' }, PermissionDeniedError],
    ['a state that is no text', {}, { state: { text: 'a' } }, BadRequestError],
    ['questions without instructions', {}, { questions: { q: noul() } }, BadRequestError],
  ])('%s', async (_what, config, change, expected) => {
    await expect(client(config).systemOne({ ...request, ...change } as SystemOneRequest)).rejects.toBeInstanceOf(
      expected,
    );
  });

  it('of the mission arrive word for word', async () => {
    const message = '400 question "is it?" has no instructions';
    await expect(client().systemOne({ state: '', questions: { 'is it?': noul() } })).rejects.toThrow(message);
  });
});

describe('retries', () => {
  // So long that a test would time out if the client waited by its own rule.
  const backoff = { backoffInitialMs: 600_000, backoffMaxMs: 600_000 };

  it.each(['overloaded', 'rate_limit_exceeded'] as const)('of %s wait as long as retry-after-ms says', async (code) => {
    const calls = failFirst(2, new AppError(code, 'Later.', { retryAfterMs: 20 }));
    const reply = await client({ retry: { maxRetries: 2, ...backoff } }).systemOne(request);
    expect([calls(), reply.model]).toEqual([3, 'kev']);
  });

  it('end after as many as were asked for', async () => {
    const calls = failFirst(9, new AppError('overloaded', 'Later.', { retryAfterMs: 1 }));
    await expect(client({ retry: { maxRetries: 2, ...backoff } }).systemOne(request)).rejects.toMatchObject({
      status: 503,
    });
    expect(calls()).toBe(3);
  });

  it('are not made for mistakes of the caller', async () => {
    const calls = failFirst(9, new AppError('context_length_exceeded', 'Too long.'));
    await expect(client({ retry: { maxRetries: 2, ...backoff } }).systemOne(request)).rejects.toBeInstanceOf(
      BadRequestError,
    );
    expect(calls()).toBe(1);
  });
});

describe('a caller who gives up', () => {
  it('aborts the work', async () => {
    const arrived = Promise.withResolvers<AbortSignal>();
    const left = Promise.withResolvers<never>();
    server.engine.decide = (_job, { signal }) => {
      arrived.resolve(signal);
      signal.addEventListener('abort', () => left.reject(signal.reason));
      return left.promise;
    };
    const abort = new AbortController();
    const call = client().systemOne(request, { signal: abort.signal });
    const outcome = expect(call).rejects.toBeInstanceOf(APIUserAbortError);
    await arrived.promise;
    abort.abort();
    await outcome;
    await expect(left.promise).rejects.toThrow('The client left before its reply.');
  });

  it('learns that nobody listens', async () => {
    const nobody = client({ baseURL: 'http://127.0.0.1:9/ai' });
    await expect(nobody.systemOne(request)).rejects.toBeInstanceOf(APIConnectionError);
  });
});
