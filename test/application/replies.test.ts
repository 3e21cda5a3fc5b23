// What every reply has, whatever the route: request ids, error bodies, retry headers; and what is recorded of it.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppError, type ErrorCode, errorCatalogue } from '../../src/domain/errors.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const PATH = '/ai/v1/systemone';
const SECRET = 'the text of a caller';
/** An unexpected failure is logged with its message, and told to nobody. */
const INSIDES = 'the insides of the server';
const decision = { model: 'kev', state: SECRET, questions: { [SECRET]: { type: 'noul', instructions: SECRET } } };

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.app.close());

const failWith = (error: unknown) => {
  server.engine.decide = () => Promise.reject(error);
};

describe('request ids', () => {
  it.each([
    ['of visible ASCII', 'abc-123_{}'],
    ['of 128 characters', 'x'.repeat(128)],
  ])('keeps a client id %s', async (_what, id) => {
    const { headers } = await server.post(PATH, decision, { 'x-request-id': id });
    expect([headers['x-request-id'], headers['x-typesafe-request-id']]).toEqual([id, id]);
  });

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['with a space', 'a b'],
    ['beyond ASCII', 'caf\u00e9'],
  ])('replaces a client id that is %s', async (_what, id) => {
    const { headers } = await server.post(PATH, decision, { 'x-request-id': id });
    expect(headers['x-request-id']).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(headers['x-typesafe-request-id']).toBe(headers['x-request-id']);
  });

  it('stand on failures of every kind', async () => {
    failWith(new Error('bug'));
    for (const reply of [await server.post(PATH, decision), await server.get('/nowhere'), await server.get('/%zz')]) {
      expect(reply.headers['x-request-id']).toMatch(/^req_/);
    }
  });
});

describe('errors', () => {
  const codes = Object.keys(errorCatalogue) as ErrorCode[];

  it.each(codes)('%s has its status and its type', async (code) => {
    failWith(new AppError(code, 'Words.', { param: 'a[1]' }));
    const { status, json } = await server.post(PATH, decision);
    expect(status).toBe(errorCatalogue[code].status);
    expect(json).toEqual({ error: { message: 'Words.', type: errorCatalogue[code].type, param: 'a[1]', code } });
  });

  it.each([
    [1, '1', '1'],
    [999.2, '1', '1000'],
    [1000, '1', '1000'],
    [1001, '2', '1001'],
    [0, '1', '1'],
  ])('says to come back in %d ms', async (retryAfterMs, seconds, milliseconds) => {
    failWith(new AppError('overloaded', 'Full.', { retryAfterMs }));
    const { headers } = await server.post(PATH, decision);
    expect([headers['retry-after'], headers['retry-after-ms']]).toEqual([seconds, milliseconds]);
  });

  it('says nothing of when to come back where nobody knows', async () => {
    failWith(new AppError('overloaded', 'Full.'));
    expect((await server.post(PATH, decision)).headers).not.toHaveProperty('retry-after');
  });

  it.each([
    ['an error', new Error(INSIDES)],
    ['no error at all', INSIDES],
    ['an error with a status of its own', Object.assign(new Error(INSIDES), { statusCode: 404, code: 'E_SECRET' })],
  ])('tells nothing of an unexpected failure: %s', async (_what, error) => {
    failWith(error);
    const reply = await server.post(PATH, decision);
    expect([reply.status, reply.json.error.code]).toEqual([500, 'internal_error']);
    expect(reply.text).not.toContain(INSIDES);
    const line = server.log.find(({ msg }) => msg === 'internal error');
    expect(line).toMatchObject({ requestId: reply.headers['x-request-id'] });
  });
});

describe('the log', () => {
  it('has one line per request, without texts, names or keys', async () => {
    await server.post(PATH, decision, { 'x-request-id': 'mine' });
    await server.post(PATH, { ...decision, questions: { [SECRET]: {} } });
    await server.get(`/${encodeURIComponent(SECRET)}`);
    const lines = server.log.map(({ time: _, pid: _p, hostname: _h, level: _l, durationMs, ...line }) => {
      expect(durationMs).toBeGreaterThan(0);
      return line;
    });
    expect(lines).toEqual([
      {
        msg: 'request',
        requestId: 'mine',
        method: 'POST',
        route: PATH,
        status: 200,
        keyId: 'key_all',
        model: 'kev',
        inputTokens: 10,
        outputTokens: 0,
        costUsd: '0.000000378',
      },
      expect.objectContaining({ route: PATH, status: 400, code: 'invalid_request' }),
      expect.objectContaining({ route: 'unmatched', status: 404, code: 'not_found' }),
    ]);
    expect(JSON.stringify(server.log)).not.toContain(SECRET);
    expect(JSON.stringify(server.log)).not.toContain('ump_');
  });

  it('is not filled by probes', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) await server.get(path);
    expect(server.log).toEqual([]);
  });

  it('keeps a message that quotes the caller out, also on a failure of the server', async () => {
    failWith(new AppError('overloaded', SECRET, { quotesCaller: true }));
    await server.post(PATH, decision);
    expect(JSON.stringify(server.log)).not.toContain(SECRET);
  });
});

describe('metrics', () => {
  it('count requests, tokens and the queue', async () => {
    await server.post(PATH, decision);
    await server.post(PATH, {});
    await server.get('/nowhere');
    const { headers, text } = await server.get('/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain/);
    for (const line of [
      'umpire_http_requests_total{method="POST",route="/ai/v1/systemone",status="200"} 1',
      'umpire_http_requests_total{method="POST",route="/ai/v1/systemone",status="400"} 1',
      'umpire_http_requests_total{method="GET",route="unmatched",status="404"} 1',
      'umpire_http_request_duration_seconds_count{method="POST",route="/ai/v1/systemone",status="200"} 1',
      'umpire_http_requests_in_flight 1',
      'umpire_tokens_total{model="kev",direction="input"} 10',
      'umpire_engine_ready 1',
      'umpire_engine_queued_jobs 3',
      'umpire_engine_queued_cost_seconds 0.04',
      'umpire_engine_busy_workers 1',
      'umpire_engine_workers 2',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).toContain('process_resident_memory_bytes');
  });
});

describe('readiness', () => {
  it.each([
    ['ready', 200],
    ['loading', 503],
    ['draining', 503],
    ['unresponsive', 503],
  ] as const)('%s is %d', async (state, status) => {
    server.engine.state = state;
    const reply = await server.get('/readyz');
    const models = server.engine.models.map(({ id }) => ({ id, state: 'loaded' }));
    expect([reply.status, reply.json]).toEqual([status, { status: state, models }]);
    expect((await server.get('/healthz')).status).toBe(200);
  });
});
