// Who may do what: keys, the models of a key, routes and methods, and the order in which all of it is checked.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { modelListSchema, modelSchema } from '../../src/http/schemas/models-reply.ts';
import { KEV_KEY, startTestServer, type TestServer } from './test-server.ts';

const kevOnly = { authorization: `Bearer ${KEV_KEY}` };
const decision = { model: 'kev', state: '', questions: { q: { type: 'noul', instructions: '?' } } };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.app.close());

describe('keys', () => {
  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['no token', 'Bearer '],
    ['two tokens', 'Bearer a b'],
    ['an unknown key', 'Bearer ump_unknown'],
    ['a foreign prefix', 'Bearer sk-proj-1234'],
    ['control characters', 'Bearer ump_\u00e9'],
    ['a very long key', `Bearer ${'a'.repeat(100_000)}`],
  ])('are refused with 401: %s', async (_what, authorization) => {
    const reply = await server.app.inject({
      method: 'GET',
      url: '/ai/v1/models',
      headers: authorization === undefined ? {} : { authorization },
    });
    expect(reply.statusCode).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('Bearer');
    expect(reply.json()).toEqual({
      error: { message: expect.any(String), type: 'authentication_error', param: null, code: 'invalid_api_key' },
    });
  });

  it('are taken with the scheme in any case', async () => {
    expect((await server.get('/ai/v1/models', { authorization: 'bearer ump_test-key' })).status).toBe(200);
  });

  it('are asked for before the body is read', async () => {
    const reply = await server.app.inject({
      method: 'POST',
      url: '/ai/v1/systemone',
      headers: { 'content-type': 'application/json', 'content-length': '99999999' },
      payload: 'not json',
    });
    expect(reply.statusCode).toBe(401);
  });

  it.each(['/healthz', '/readyz', '/metrics', '/openapi.json'])('are not needed for %s', async (path) => {
    const reply = await server.app.inject(path);
    expect(reply.statusCode).toBe(200);
    const head = await server.app.inject({ method: 'HEAD', url: path });
    expect([head.statusCode, head.body]).toEqual([200, '']);
  });

  it('are needed for /metrics where it is switched so', async () => {
    const guarded = await startTestServer({ metricsRequireKey: true });
    expect((await guarded.app.inject('/metrics')).statusCode).toBe(401);
    expect((await guarded.get('/metrics')).status).toBe(200);
    await guarded.app.close();
  });
});

describe('models', () => {
  it('are listed exactly as far as the key may use them, for clients of both formats', async () => {
    const all = (await server.get('/ai/v1/models')).json;
    expect(modelListSchema.safeParse(all).error).toBeUndefined();
    expect(all.data.map((model: { id: string; type: string }) => [model.id, model.type])).toEqual([
      ['kev', 'decision'],
      ['text-embed-mini', 'embedding'],
      ['reranker', 'reranker'],
      ['llama', 'llm'],
    ]);
    const own = (await server.get('/ai/v1/models', kevOnly)).json;
    expect(own.data.map((model: { id: string }) => model.id)).toEqual(['kev']);
    expect(own.models).toEqual([{ name: 'kev', description: 'A decision model.', release_date: '2026-11-21' }]);
  });

  it('are described, each with its price, digest and limits', async () => {
    const { status, json } = await server.get('/ai/v1/models/kev', kevOnly);
    expect(status).toBe(200);
    expect(modelSchema.safeParse(json).error).toBeUndefined();
    expect(json).toMatchObject({
      created: Date.UTC(2026, 10, 21) / 1000,
      price: { input: 0.0378, output: 0 },
      digest: `sha256:${'a'.repeat(64)}`,
      limits: { state_tokens: 8192, question_tokens: 32_768 },
      source: null,
      calibrated: true,
    });
    const pulled = await server.get('/ai/v1/models/reranker');
    expect(pulled.json).toMatchObject({ source: `someone/reranker@${'d'.repeat(40)}`, calibrated: null });
  });

  it.each([
    ['/ai/v1/models/nope', 404, 'model_not_found'],
    ['/ai/v1/models/%2e%2e%2fetc', 404, 'model_not_found'],
    [`/ai/v1/models/${'x'.repeat(2000)}`, 404, 'not_found'],
    ['/ai/v1/models/llama', 403, 'model_not_allowed'],
  ])('are found or not by GET %s', async (path, status, code) => {
    const reply = await server.get(path, kevOnly);
    expect([reply.status, reply.json.error.code]).toEqual([status, code]);
  });

  it.each([
    ['/ai/v1/systemone', { ...decision, model: 'nope' }, 404, 'model_not_found', /does not exist/],
    ['/ai/v1/systemone', { ...decision, model: '' }, 404, 'model_not_found', /does not exist/],
    ['/ai/v1/systemone', { ...decision, model: 'llama' }, 403, 'model_not_allowed', /may not use/],
    ['/ai/v1/embeddings', { model: 'kev', input: 'a' }, 400, 'model_type_mismatch', /POST \/ai\/v1\/systemone/],
    ['/ai/v1/chat/completions', { model: 'kev', messages: [] }, 400, 'model_type_mismatch', /POST \/ai\/v1\/systemone/],
  ])('are refused or not to POST %s %o', async (path, body, status, code, message) => {
    const { error } = (await server.post(path, body, kevOnly)).json;
    expect(error).toMatchObject({ code, param: 'model', message: expect.stringMatching(message) });
    expect((await server.post(path, body, kevOnly)).status).toBe(status);
  });

  it.each([
    ['/ai/v1/systemone', { ...decision, model: 'text-embed-mini' }, /POST \/ai\/v1\/embeddings/],
    ['/ai/v1/systemone', { ...decision, model: 'llama' }, /POST \/ai\/v1\/chat\/completions/],
    ['/ai/v1/embeddings', { model: 'llama', input: 'a' }, /POST \/ai\/v1\/chat\/completions/],
  ])('of another type name the right endpoint: POST %s %o', async (path, body, message) => {
    const { status, json } = await server.post(path, body);
    expect([status, json.error.code]).toEqual([400, 'model_type_mismatch']);
    expect(json.error.message).toMatch(message);
  });
});

describe('routes', () => {
  it.each([
    ['GET', '/nowhere', 404, 'not_found', undefined],
    ['GET', '/ai/v1', 404, 'not_found', undefined],
    ['POST', '/ai/v1/audio', 404, 'not_found', undefined],
    ['GET', '/ai/v1/systemone/', 405, 'method_not_allowed', 'POST'],
    ['GET', '/ai/v1/systemone', 405, 'method_not_allowed', 'POST'],
    ['DELETE', '/ai/v1/embeddings?x=1', 405, 'method_not_allowed', 'POST'],
    ['POST', '/ai/v1/models', 405, 'method_not_allowed', 'GET, HEAD'],
    ['PUT', '/ai/v1/models/kev', 405, 'method_not_allowed', 'GET, HEAD'],
    ['OPTIONS', '/ai/v1/systemone', 405, 'method_not_allowed', 'POST'],
    ['POST', '/healthz', 405, 'method_not_allowed', 'GET, HEAD'],
    ['GET', '/ai/v1/%zz', 400, 'invalid_request', undefined],
  ] as const)('%s %s', async (method, url, status, code, allow) => {
    const authorization = 'Bearer ump_test-key';
    const reply = await server.app.inject({
      method,
      url,
      headers: { authorization, 'content-type': 'application/json' },
      ...(method === 'POST' ? { payload: '{not json' } : {}),
    });
    expect([reply.statusCode, reply.json().error.code, reply.headers['allow']]).toEqual([status, code, allow]);
    expect(reply.headers['x-request-id']).toMatch(/^req_/);
  });

  it('under the prefix are unknown only to callers with a key', async () => {
    expect((await server.app.inject('/ai/v1/nowhere')).statusCode).toBe(401);
  });
});

describe('bodies', () => {
  it.each([
    ['another type', { 'content-type': 'text/plain' }, /Content-Type: application\/json/],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, /Content-Type: application\/json/],
    ['a type that is none', { 'content-type': 'json' }, /Content-Type: application\/json/],
    ['a body that is not encoded as it says', { 'content-encoding': 'gzip' }, /is not what its Content-Encoding says/],
    ['an unknown encoding', { 'content-encoding': 'lzma' }, /one of gzip, br, zstd, deflate/],
  ])('are refused with 400: %s', async (_what, headers, message) => {
    const { status, json } = await server.post('/ai/v1/systemone', decision, headers);
    expect([status, json.error.code]).toEqual([400, 'invalid_request']);
    expect(json.error.message).toMatch(message);
  });

  it.each([
    ['application/json; charset=utf-8', 'identity'],
    ['Application/JSON', 'Identity'],
  ])('are JSON, called %s', async (type, encoding) => {
    const headers = { 'content-type': type, 'content-encoding': encoding };
    expect((await server.post('/ai/v1/systemone', decision, headers)).status).toBe(200);
  });
});

describe('the order of checks', () => {
  const oversized = Buffer.alloc(8 * 1024 * 1024 + 1, 0x20);
  const full = new AppError('overloaded', 'Full.', { retryAfterMs: 10 });

  it('is key, size, JSON, fields, model, access, type, room', async () => {
    const path = '/ai/v1/embeddings';
    server.engine.embed = () => Promise.reject(full);
    const codes = [
      await server.post(path, oversized, { authorization: 'Bearer no' }),
      await server.post(path, oversized),
      await server.post(path, '{"model":1,'),
      await server.post(path, { model: 1, input: 1 }),
      await server.post(path, { model: 'nope', input: 1 }),
      await server.post(path, { model: 'nope', input: 'a' }, kevOnly),
      await server.post(path, { model: 'llama', input: 'a' }, kevOnly),
      await server.post(path, { model: 'llama', input: 'a' }),
      await server.post(path, { model: 'text-embed-mini', input: 'a' }),
    ].map(({ status, json }) => `${status} ${json.error.code} ${json.error.param}`);
    expect(codes).toEqual([
      '401 invalid_api_key null',
      '413 request_too_large null',
      '400 invalid_request null',
      '400 invalid_request model',
      '400 invalid_request input',
      '404 model_not_found model',
      '403 model_not_allowed model',
      '400 model_type_mismatch model',
      '503 overloaded null',
    ]);
  });
});
