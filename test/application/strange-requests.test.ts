// Requests that no client library sends: every method there is, heads that HTTP/1.1 forbids, rubbish behind a good
// request. On a real port, because most of it never gets past Node's parser.

import { METHODS } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_METHODS } from '../../src/http/unknown-route.ts';
import { expectRefusal } from './expect-refusal.ts';
import { KEY, startTestServer, type TestServer } from './test-server.ts';

const BEARER = `authorization: Bearer ${KEY}\r\n`;
const LAST = 'connection: close\r\n';
const DECISION = JSON.stringify({ model: 'kev', state: '', questions: { q: { type: 'noul', instructions: '?' } } });
/** Paths with what they take; null: nothing. */
const PATHS: readonly (readonly [path: string, allowed: readonly string[]])[] = [
  ['/healthz', ['GET', 'HEAD']],
  ['/openapi.json', ['GET', 'HEAD']],
  ['/ai/v1/models/kev', ['GET', 'HEAD']],
  ['/ai/v1/systemone', ['POST']],
  ['/nowhere', []],
  ['/ai/v1/nowhere', []],
  ['*', []],
];

let server: TestServer;
let port: number;
beforeAll(async () => {
  server = await startTestServer();
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  port = (server.app.server.address() as AddressInfo).port;
});
afterAll(() => server.app.close());

/** @returns everything that came back until the server ended the connection */
async function send(bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  // A reset after the reply loses nothing that is looked at.
  socket.on('error', () => undefined);
  socket.write(bytes);
  return await text(socket);
}

function parse(reply: string) {
  const [head = '', ...body] = reply.split('\r\n\r\n');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), header, body: body.join('\r\n\r\n') };
}

function expectReply(reply: string, status: number, code: string): void {
  const { status: got, header, body } = parse(reply);
  expect([got, body]).toEqual([status, expect.stringContaining(`"code":"${code}"`)]);
  expectRefusal(got, body);
  expect(header('x-request-id')).toMatch(/^[\x21-\x7e]{1,128}$/);
  expect(header('content-type')).toBe('application/json; charset=utf-8');
}

const callersMistakes = () => server.log.filter(({ level }) => Number(level) > 30);

describe('any method', () => {
  const others = METHODS.filter((method) => method !== 'CONNECT');

  it.each(PATHS)('at %s is answered, refused with 405 and Allow, or 404', async (path, allowed) => {
    for (const method of others) {
      const { status, header, body } = parse(
        await send(`${method} ${path} HTTP/1.1\r\nhost: x\r\n${BEARER}${LAST}\r\n`),
      );
      if (allowed.includes(method)) {
        expect([method, status]).toEqual([method, method === 'POST' ? 400 : 200]);
        continue;
      }
      expect([method, status]).toEqual([method, allowed.length === 0 ? 404 : 405]);
      expect(header('allow')).toBe(allowed.length === 0 ? undefined : allowed.join(', '));
      if (method !== 'HEAD') expectRefusal(status, body);
    }
    expect(callersMistakes()).toEqual([]);
  });

  it('is refused for want of a key where one is needed', async () => {
    // A browser asks with OPTIONS before it sends a key.
    for (const method of others.filter((name) => name !== 'HEAD' && name !== 'OPTIONS'))
      expectReply(await send(`${method} /ai/v1/models HTTP/1.1\r\nhost: x\r\n${LAST}\r\n`), 401, 'invalid_api_key');
  });

  it.each(['BREW', 'get', 'X-WHAT', 'QUERY2'])('that nobody knows is 405: %s', async (method) => {
    const reply = await send(`${method} /healthz HTTP/1.1\r\nhost: x\r\n\r\n`);
    expectReply(reply, 405, 'method_not_allowed');
    expect(parse(reply).header('allow')).toBe(ALL_METHODS);
  });

  it.each(['example.com:443', '/healthz', '*', '127.0.0.1:1'])('CONNECT to %s is 405', async (target) => {
    const reply = await send(`CONNECT ${target} HTTP/1.1\r\nhost: x\r\n\r\nmore`);
    expectReply(reply, 405, 'method_not_allowed');
    expect(parse(reply).header('allow')).toBe(ALL_METHODS);
  });

  it('that some route takes is among those that a foreign one is told', async () => {
    const { paths } = (await server.get('/openapi.json')).json as { paths: Record<string, object> };
    const taken = new Set(Object.values(paths).flatMap((path) => Object.keys(path).map((name) => name.toUpperCase())));
    for (const method of taken) expect(ALL_METHODS.split(', ')).toContain(method);
  });
});

describe('a head that HTTP/1.1 forbids', () => {
  it.each([
    ['no Host', ''],
    ['two Hosts', 'host: a\r\nhost: b\r\n'],
    ['the same Host twice', 'host: a\r\nHOST: a\r\n'],
    ['a Host with blanks', 'host: a b\r\n'],
    ['a Host with a path', 'host: a/b\r\n'],
    ['a Host with a user', 'host: me@a\r\n'],
  ])('is 400 in the one shape: %s', async (_what, host) => {
    for (const path of ['/healthz', '/ai/v1/models', '/nowhere'])
      expectReply(await send(`GET ${path} HTTP/1.1\r\n${host}${LAST}\r\n`), 400, 'invalid_request');
  });

  it.each(['localhost', '127.0.0.1:8080', '[::1]:8080', 'my_service.internal', '', 'xn--bcher-kva.example:'])(
    'is not one with the Host %j',
    async (host) => {
      expect(parse(await send(`GET /healthz HTTP/1.1\r\nhost: ${host}\r\n${LAST}\r\n`)).status).toBe(200);
    },
  );

  it('is not one of HTTP/1.0 without a Host', async () => {
    expect(parse(await send('GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200);
  });

  it.each(['200-ok', 'continue', '100', 'x=y, z'])('is 417 in the one shape: Expect: %s', async (expectation) => {
    const head = `host: x\r\n${BEARER}content-type: application/json\r\ncontent-length: ${DECISION.length}\r\n${LAST}`;
    const reply = await send(`POST /ai/v1/systemone HTTP/1.1\r\nexpect: ${expectation}\r\n${head}\r\n${DECISION}`);
    expectReply(reply, 417, 'expectation_failed');
  });

  it('is not one with "Expect: 100-continue"', async () => {
    const head = `host: x\r\n${BEARER}content-type: application/json\r\ncontent-length: ${DECISION.length}\r\n${LAST}`;
    const reply = await send(`POST /ai/v1/systemone HTTP/1.1\r\nexpect: 100-Continue\r\n${head}\r\n${DECISION}`);
    expect(reply).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });

  it('is not one that asks for another protocol: it is answered in this one', async () => {
    const reply = await send('GET /healthz HTTP/1.0\r\nconnection: Upgrade\r\nupgrade: websocket\r\nhost: x\r\n\r\n');
    expect(parse(reply).status).toBe(200);
  });
});

describe('rubbish behind a good request', () => {
  const good = `POST /ai/v1/systemone HTTP/1.1\r\nhost: x\r\n${BEARER}content-type: application/json\r\ncontent-length: ${DECISION.length}\r\n\r\n${DECISION}`;

  it.each([
    ['noise', '\u0000\u0001\u0002\r\n\r\n', 400],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n', 405],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
  ])('does not take the place of its answer: %s', async (_what, rubbish, status) => {
    const replies = await send(good + good + rubbish);
    expect(replies.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', `HTTP/1.1 ${status}`]);
  });
});

describe('any bytes', () => {
  const method = fc.oneof(fc.constantFrom(...METHODS), fc.stringMatching(/^[A-Z!#$.^_|~-]{1,12}$/));
  const path = fc.oneof(
    fc.constantFrom(...PATHS.map(([name]) => name)),
    fc.webUrl({ withQueryParameters: true }),
    fc.stringMatching(/^\/[\x21-\x7e]{0,60}$/),
    fc.stringMatching(/^\/ai\/v1\/[\x21-\x7e]{0,60}$/),
  );
  const name = fc.constantFrom(
    'host',
    'expect',
    'content-type',
    'content-length',
    'transfer-encoding',
    'upgrade',
    'connection',
    'content-encoding',
    'x-request-id',
    'authorization',
    'accept',
    'te',
    'trailer',
    'range',
    'origin',
  );
  const value = fc.oneof(
    fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,30}$/),
    fc.constantFrom(
      'x',
      '0',
      '2',
      'chunked',
      'close',
      'application/json',
      'text/plain',
      'gzip',
      'keep-alive, Upgrade',
      `Bearer ${KEY}`,
      '18446744073709551616',
    ),
  );
  const headers = fc.array(fc.tuple(name, value), { maxLength: 6 });
  const body = fc.oneof(fc.constantFrom('', '{}', DECISION, '2\r\n{}\r\n0\r\n\r\n'), fc.string({ unit: 'binary' }));

  it('in the place of a request get no 5xx, and an error in the one shape', async () => {
    await fc.assert(
      fc.asyncProperty(method, path, headers, body, async (verb, target, more, rest) => {
        const lines = more.map(([header, content]) => `${header}: ${content}\r\n`).join('');
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => undefined);
        // Half closed: whatever the server waits for does not come.
        socket.end(Buffer.from(`${verb} ${target} HTTP/1.1\r\nhost: x\r\n${lines}${LAST}\r\n${rest}`, 'latin1'));
        const { status, body: said } = parse(await text(socket).catch(() => ''));
        if (Number.isNaN(status) || status < 400) return;
        expect(status).toBeLessThan(500);
        if (verb !== 'HEAD') expectRefusal(status, said);
      }),
      { numRuns: 1000, seed: 20_261_122 },
    );
    expect(callersMistakes()).toEqual([]);
  });
});
