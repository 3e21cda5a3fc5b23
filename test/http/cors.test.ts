// What a browser of another origin is told, by every reply there is. That browsers make of it what we mean, a real one
// shows in test/browser/cross-origin.test.ts.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestServer, type TestServer } from '../application/test-server.ts';
import { startChat } from '../contract/openai-chat-fixture.ts';
import { answerHello } from '../upstream/upstream-answers.ts';

const ORIGIN = 'https://app.example.com';
const DECISIONS = '/ai/v1/systemone';
const ALLOWED = 'access-control-allow-origin';

const namesOf = (headers: object): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control') || name === 'vary');

let open: TestServer;
let others: TestServer;
let any: TestServer;
let closed: TestServer;
beforeAll(async () => {
  open = await startTestServer({ cors: ['https://first.example.com', ORIGIN] });
  others = await startTestServer({ cors: ['https://first.example.com'] });
  any = await startTestServer({ cors: ['*'] });
  closed = await startTestServer();
});
afterAll(async () => {
  for (const { app } of [open, others, any, closed]) await app.close();
});

const preflight = (server: TestServer, url: string, headers: Record<string, string> = {}) =>
  server.app.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin: ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, x-stainless-lang',
      ...headers,
    },
  });

describe('without configured origins', () => {
  it('no reply says anything of origins', async () => {
    expect(namesOf((await closed.post(DECISIONS, {}, { origin: ORIGIN })).headers)).toEqual([]);
  });

  it('a preflight is refused as any method is that no route takes', async () => {
    const reply = await preflight(closed, DECISIONS);
    expect([reply.statusCode, namesOf(reply.headers)]).toEqual([405, []]);
  });
});

describe('a preflight', () => {
  it.each([
    DECISIONS,
    '/v1/chat/completions',
    '/ai/v1/models/kev',
    '/admin/v1/keys',
    '/healthz',
    '/no/such/route',
    '/ai/v1/nothing',
  ])('of %s is granted without a key, for what it asks', async (url) => {
    const { statusCode, headers, body } = await preflight(open, url);
    expect([statusCode, body]).toEqual([204, '']);
    expect(headers).toMatchObject({
      [ALLOWED]: ORIGIN,
      'access-control-allow-methods': 'GET, HEAD, PATCH, POST',
      'access-control-allow-headers': 'authorization, content-type, x-stainless-lang',
      'access-control-max-age': '600',
      'x-request-id': expect.stringMatching(/./),
    });
    expect(headers['vary']).toMatch(/^Origin\b/);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('of an origin that is not listed is no preflight', async () => {
    const reply = await preflight(others, DECISIONS);
    expect([reply.statusCode, namesOf(reply.headers)]).toEqual([405, ['vary']]);
  });

  it('is only what says which method is meant', async () => {
    const reply = await open.app.inject({ method: 'OPTIONS', url: DECISIONS, headers: { origin: ORIGIN } });
    expect([reply.statusCode, reply.headers['allow'], reply.headers[ALLOWED]]).toEqual([405, 'POST', ORIGIN]);
    expect(reply.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
  });

  it('makes a path of nothing: what is not there is not found, and no route is suggested that is none', async () => {
    const reply = await open.app.inject({ method: 'OPTIONS', url: '/nothing' });
    expect([reply.statusCode, reply.json().error.message]).toEqual([
      404,
      'No such route. GET /openapi.json describes all of them.',
    ]);
  });
});

describe('a reply', () => {
  const RETRY = ['retry-after', 'retry-after-ms', 'x-umpire-cost-usd', 'x-request-id', 'x-ratelimit-remaining-tokens'];

  it.each([
    ['that grants', 200, () => open.get('/ai/v1/models', { origin: ORIGIN })],
    ['to a wrong key', 401, () => open.get('/ai/v1/models', { origin: ORIGIN, authorization: 'Bearer ump_wrong' })],
    ['that finds no route', 404, () => open.get('/nothing', { origin: ORIGIN })],
    ['about a wrong method', 405, () => open.send('PUT', DECISIONS, {}, { origin: ORIGIN })],
    ['about a wrong body', 400, () => open.post(DECISIONS, {}, { origin: ORIGIN })],
    ['about an expectation', 417, () => open.post(DECISIONS, {}, { origin: ORIGIN, expect: 'wonders' })],
    ['about a body that is too large', 413, () => open.post(DECISIONS, 'x'.repeat(3_000_000), { origin: ORIGIN })],
  ])('%s can be read with all its headers by a page of that origin', async (_what, status, send) => {
    const reply = await send();
    expect([reply.status, reply.headers[ALLOWED], reply.headers['vary']]).toEqual([status, ORIGIN, 'Origin']);
    const exposed = String(reply.headers['access-control-expose-headers']).split(', ');
    expect(exposed).toEqual(expect.arrayContaining(RETRY));
  });

  it('of a stream can be read too', async () => {
    const { baseURL } = await startChat(answerHello, { http: { cors: [ORIGIN] } });
    const reply = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', origin: ORIGIN },
      body: JSON.stringify({ model: 'llama', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    expect(await reply.text()).toContain('[DONE]');
    expect(reply.headers.get(ALLOWED)).toBe(ORIGIN);
    expect(reply.headers.get('vary')).toMatch(/^Origin\b/);
  });

  it.each(['https://app.example.com.evil.test', 'http://app.example.com', 'https://app.example.com:8443', 'null', ''])(
    'to the origin "%s", which is not listed, lets nobody in and says to caches that it might',
    async (origin) => {
      const reply = await open.get('/healthz', { origin });
      expect([reply.status, namesOf(reply.headers), reply.headers['vary']]).toEqual([200, ['vary'], 'Origin']);
    },
  );

  it('to nobody in particular is for caches the same', async () => {
    expect(namesOf((await open.get('/healthz')).headers)).toEqual(['vary']);
  });

  it('is for any origin where all are let in', async () => {
    expect((await any.get('/healthz', { origin: 'https://who.test' })).headers[ALLOWED]).toBe('*');
    expect((await preflight(any, DECISIONS)).headers[ALLOWED]).toBe('*');
  });
});
