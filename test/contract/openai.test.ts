// Embeddings, models and errors as the unmodified `openai` package sees them, over a real port. Chat has a file of its
// own.

import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  type ClientOptions,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
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
  server.engine.embed = createFakeEngine().embed;
});

const client = (options: ClientOptions = {}) =>
  new OpenAI({ baseURL: server.chatBaseUrl, apiKey: KEY, maxRetries: 0, ...options });
const request = { model: 'text-embed-mini', input: ['one', 'three words here'] };
const VECTORS = [[3, 4, 5, 6].map((n) => Math.fround(n / 7)), [16, 17, 18, 19].map((n) => Math.fround(n / 7))];

function failFirst(failures: number, error: AppError): () => number {
  const { embed } = createFakeEngine();
  let calls = 0;
  server.engine.embed = (job, caller) => {
    calls += 1;
    return calls <= failures ? Promise.reject(error) : embed(job, caller);
  };
  return () => calls;
}

it('the openai package is tested in the version that is pinned', () => {
  expect(installedVersion('openai')).toBe('7.57.0');
});

describe('embeddings', () => {
  it.each([
    ['in base64, as the client asks by itself', undefined],
    ['in base64, as asked', 'base64'],
    ['as numbers', 'float'],
  ] as const)('are answered %s', async (_how, encoding) => {
    const asked: string[] = [];
    const { embed } = server.engine;
    server.engine.embed = (job, caller) => {
      asked.push(job.encoding);
      return embed(job, caller);
    };
    const reply = await client().embeddings.create({ ...request, ...(encoding && { encoding_format: encoding }) });
    const vectors = reply.data.map(({ embedding }) =>
      typeof embedding === 'string'
        ? new Float32Array(Uint8Array.from(Buffer.from(embedding, 'base64')).buffer)
        : embedding,
    );
    expect(vectors.map((vector) => [...vector])).toEqual(VECTORS);
    expect(asked).toEqual([encoding ?? 'base64']);
    expect(reply).toMatchObject({
      object: 'list',
      model: 'text-embed-mini',
      usage: { prompt_tokens: 4, total_tokens: 4 },
    });
  });

  it('take dimensions', async () => {
    const reply = await client().embeddings.create({ ...request, dimensions: 2 });
    expect(reply.data.map(({ embedding }) => embedding.length)).toEqual([2, 2]);
  });

  it('refuse token ids with the remedy', async () => {
    const asked = client().embeddings.create({ ...request, input: [[101, 102], [7]] });
    await expect(asked).rejects.toThrow(/Send the text itself.*check_embedding_ctx_length=False/);
  });

  it('take token ids of the model where the server is told so', async () => {
    const taking = await startContractServer({ tokenArrays: 'model' });
    const asked = client({ baseURL: taking.chatBaseUrl }).embeddings;
    const reply = await asked.create({ ...request, input: [[101, 102], [7]] });
    expect(reply.usage.prompt_tokens).toBe(3);
    await taking.app.close();
  });
});

describe('models', () => {
  it('are listed', async () => {
    const models = [];
    for await (const model of client().models.list()) models.push(model);
    expect(models.map(({ id, object }) => [id, object])).toEqual([
      ['kev', 'model'],
      ['text-embed-mini', 'model'],
      ['reranker', 'model'],
      ['llama', 'model'],
    ]);
    expect((await client({ apiKey: KEV_KEY }).models.list()).data.map(({ id }) => id)).toEqual(['kev']);
  });

  it('are described', async () => {
    expect(await client().models.retrieve('kev')).toMatchObject({
      id: 'kev',
      owned_by: 'umpire',
      created: 1_795_219_200,
    });
    await expect(client().models.retrieve('org/nope')).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe('errors', () => {
  const CLASS_OF_STATUS: Record<number, new (...args: never[]) => APIError> = {
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

  it.each(Object.keys(errorCatalogue) as ErrorCode[])('%s reaches the caller whole', async (code) => {
    failFirst(1, new AppError(code, 'Words for people.', { param: 'input[1]' }));
    const error = await client()
      .embeddings.create(request)
      .catch((thrown: unknown) => thrown);
    const status = errorCatalogue[code].status;
    expect(error).toBeInstanceOf(CLASS_OF_STATUS[status] ?? APIError);
    expect(error).toMatchObject({ status, code, param: 'input[1]', type: errorCatalogue[code].type });
    expect((error as APIError).message).toBe(`${status} Words for people.`);
    expect((error as APIError).requestID).toMatch(/^req_/);
  });

  it.each([
    ['an unknown key', { apiKey: 'sk-wrong' }, {}, AuthenticationError],
    ['an unknown model', {}, { model: 'nope' }, NotFoundError],
    ['a model of another type', {}, { model: 'kev' }, BadRequestError],
    ['a model of other keys', { apiKey: KEV_KEY }, {}, PermissionDeniedError],
    ['no input', {}, { input: [] }, BadRequestError],
  ])('%s', async (_what, options, change, expected) => {
    await expect(client(options).embeddings.create({ ...request, ...change })).rejects.toBeInstanceOf(expected);
  });
});

describe('retries', () => {
  it.each(['overloaded', 'rate_limit_exceeded'] as const)('of %s wait as long as retry-after-ms says', async (code) => {
    const calls = failFirst(2, new AppError(code, 'Later.', { retryAfterMs: 1 }));
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    await client({ maxRetries: 2 }).embeddings.create(request);
    expect(calls()).toBe(3);
    // By Retry-After each would have been 1 s, by the client's own rule at least 375 ms. Longer ones end what hangs.
    const waitsMs = timers.mock.calls.map(([, ms = 0]) => ms).filter((ms) => ms <= 1000);
    expect(waitsMs).toEqual([1, 1]);
  });

  it('are not made for mistakes of the caller', async () => {
    const calls = failFirst(9, new AppError('context_length_exceeded', 'Too long.'));
    await expect(client({ maxRetries: 2 }).embeddings.create(request)).rejects.toBeInstanceOf(BadRequestError);
    expect(calls()).toBe(1);
  });
});

it('a caller who gives up aborts the work', async () => {
  const arrived = Promise.withResolvers<AbortSignal>();
  const left = Promise.withResolvers<never>();
  server.engine.embed = (_job, { signal }) => {
    arrived.resolve(signal);
    signal.addEventListener('abort', () => left.reject(signal.reason));
    return left.promise;
  };
  const abort = new AbortController();
  const call = client().embeddings.create(request, { signal: abort.signal });
  const outcome = expect(call).rejects.toBeInstanceOf(APIUserAbortError);
  await arrived.promise;
  abort.abort();
  await outcome;
  await expect(left.promise).rejects.toThrow('The client left before its reply.');
});
