// What a client can put into headers and names: it stays there. No line of the log, no header of a reply and no other
// request is made of it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DECISION, GuardedServer } from './guarded-server.ts';

const ESCAPE = '\u001b';

let server: GuardedServer;

beforeAll(async () => {
  server = await GuardedServer.start();
});

afterAll(() => server.dispose());

/** A decision as raw bytes, with one more header line. */
function rawDecision(headerLine: string): string {
  const body = JSON.stringify(DECISION);
  return [
    'POST /ai/v1/systemone HTTP/1.1',
    'host: umpire',
    `authorization: Bearer ${server.caller.secret}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
    headerLine,
    '',
    body,
  ].join('\r\n');
}

function statusOf(reply: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(reply)?.[1]);
}

describe('x-request-id', () => {
  it.each([
    ['with a terminal code', `x-request-id: a${ESCAPE}[2Jb`],
    ['with a carriage return', 'x-request-id: a\rset-cookie: quokka=1'],
    ['with a line feed', 'x-request-id: a\nset-cookie: quokka=1'],
    ['folded', 'x-request-id: a\r\n set-cookie: quokka=1'],
    ['with bytes beyond ASCII', 'x-request-id: \u00e9quokka'],
    ['with spaces', 'x-request-id: a quokka'],
    ['too long', `x-request-id: ${'quokka'.repeat(30)}`],
    ['twice', 'x-request-id: quokka\r\nx-request-id: quokka'],
    ['empty', 'x-request-id:'],
  ])('%s is refused or replaced', async (_what, line) => {
    const reply = await server.sendRaw(rawDecision(line));
    expect([200, 400]).toContain(statusOf(reply));
    expect(reply).not.toMatch(/^set-cookie/im);
    expect(reply).not.toContain('quokka');
    if (statusOf(reply) === 200) expect(reply).toMatch(/^x-request-id: req_[0-9a-f-]{36}\r$/im);
  });

  it('that would break out of JSON is one field of one line', async () => {
    const id = 'a","level":"fatal","x":"';
    expect(statusOf(await server.sendRaw(rawDecision(`x-request-id: ${id}`)))).toBe(200);
    await server.process.waitFor(/"requestId":"a\\",/);
    const lines = server.logLines().filter((line) => line['requestId'] === id);
    expect(lines).toEqual([expect.objectContaining({ level: 'info', msg: 'request', status: 200 })]);
  });
});

describe('Idempotency-Key', () => {
  it.each([
    ['with a terminal code', `idempotency-key: a${ESCAPE}[2Jb`],
    ['with a carriage return', 'idempotency-key: a\rset-cookie: quokka=1'],
    ['folded', 'idempotency-key: a\r\n set-cookie: quokka=1'],
    ['with bytes beyond ASCII', 'idempotency-key: \u00e9quokka'],
    ['with spaces', 'idempotency-key: a quokka'],
    ['too long', `idempotency-key: ${'q'.repeat(256)}`],
    ['twice', 'idempotency-key: a\r\nidempotency-key: b'],
    ['empty', 'idempotency-key:'],
  ])('%s is a 400, and nothing is billed', async (_what, line) => {
    const before = await server.countRows();
    const reply = await server.sendRaw(rawDecision(line));
    expect(statusOf(reply)).toBe(400);
    expect(reply).not.toMatch(/^set-cookie/im);
    expect(await server.countRows()).toEqual(before);
  });

  it.each([`'; DROP TABLE idempotency; --`, '__proto__', 'a","b":"c', '%', '../../x'])(
    'of any visible characters is a name and no more: %s',
    async (name) => {
      const headers = { 'idempotency-key': name.replaceAll(' ', '_') };
      const first = await server.decide(server.caller.secret, headers);
      const second = await server.decide(server.caller.secret, headers);
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(second.json).toEqual(first.json);
    },
  );
});

describe('names of models', () => {
  it.each([
    `${ESCAPE}[31mquokka`,
    'quokka\r\n{"level":"fatal"}',
    '"quokka":{"',
    `quokka' OR '1'='1`,
    '__proto__',
    'constructor',
    'q'.repeat(100_000),
  ])('that nobody offers are a 404 that says no more: %j', async (model) => {
    const body = { ...DECISION, model };
    const reply = await server.call({ method: 'POST', path: '/ai/v1/systemone', secret: server.caller.secret, body });
    expect([reply.status, reply.json.error.code]).toEqual([404, 'model_not_found']);
    expect(reply.text).not.toContain('quokka');
    const named = await server.call({
      method: 'GET',
      path: `/ai/v1/models/${encodeURIComponent(model.slice(0, 200))}`,
      secret: server.caller.secret,
    });
    expect(named.status).toBe(404);
  });
});

describe('names of every object', () => {
  it.each(['__proto__', 'constructor', 'hasOwnProperty'])('as a question are a question: %s', async (name) => {
    const body = `{"model":"${DECISION.model}","state":"","questions":{"${name}":{"type":"noul","instructions":"a"}}}`;
    const reply = await server.call({ method: 'POST', path: '/ai/v1/systemone', secret: server.caller.secret, body });
    expect(reply.status).toBe(200);
    expect(reply.text).toContain(`"answers":{"${name}":{"type":"noul"`);
  });

  it.each(['embeddings', 'chat/completions'])('in the body of %s change nothing', async (path) => {
    const body = '{"model":"x","__proto__":{"model":"tiny-embedding","input":"a"},"input":"a","messages":[]}';
    const reply = await server.call({ method: 'POST', path: `/ai/v1/${path}`, secret: server.caller.secret, body });
    expect([400, 404]).toContain(reply.status);
  });
});

describe('headers beyond all measure', () => {
  it.each([
    ['one', `x-much: ${'q'.repeat(100_000)}`],
    ['many', Array.from({ length: 5000 }, (_, index) => `x-${index}: quokka`).join('\r\n')],
  ])('%s: refused, and the server goes on', async (_what, line) => {
    const reply = await server.sendRaw(rawDecision(line));
    expect(statusOf(reply)).toBe(400);
    expect(reply).toContain('The headers are too large.');
    expect((await server.decide(server.caller.secret)).status).toBe(200);
  });

  it('a request that hides another one in its body is one request', async () => {
    const smuggled = `GET /admin/v1/keys HTTP/1.1\r\nhost: umpire\r\n\r\n`;
    const both = `content-length: ${smuggled.length}\r\ntransfer-encoding: chunked`;
    const reply = await server.sendRaw(
      `POST /ai/v1/systemone HTTP/1.1\r\nhost: umpire\r\n${both}\r\nconnection: close\r\n\r\n${smuggled}`,
    );
    expect(reply.match(/HTTP\/1\.1 \d{3}/g)).toHaveLength(1);
    expect([400, 401]).toContain(statusOf(reply));
  });
});

describe('the log', () => {
  it('has one JSON object in each line, and nothing of all that', async () => {
    const last = 'the-last-request';
    await server.decide(server.caller.secret, { 'x-request-id': last });
    await server.process.waitFor(new RegExp(last));
    for (const line of server.logLines()) {
      expect(JSON.stringify(line)).not.toMatch(/quokka|set-cookie|DROP|\\u001b/);
      expect(['info', 'warn']).toContain(line['level']);
    }
  });
});
