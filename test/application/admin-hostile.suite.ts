// Hostile texts in every field of the admin routes: SQL, control characters, names of JavaScript's own, floods. Each is
// refused with a 4xx or kept as the text it is; nothing is quoted back in an error or written to the log. A suite, not a
// test file: admin-hostile.*.test.ts run it over each store.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminServer, Caller } from './admin-server.ts';
import { expectRefusal } from './expect-refusal.ts';

const MARK = 'h0stile';
const HOSTILE = [
  `${MARK}'; DROP TABLE api_keys; --`,
  `${MARK}" OR "1"="1`,
  `${MARK}\u0000`,
  `${MARK}\r\nx-injected: 1`,
  `${MARK}\u001b[2J`,
  `${MARK}\u202e`,
  `${MARK}\ud800`,
  `${MARK}${'x'.repeat(5000)}`,
  `=${MARK}()`,
  '__proto__',
  'constructor',
  '%00',
  `$\{${MARK}}`,
  '../../etc/passwd',
];

/** A reply in order: no failure of ours, no echo in a refusal, no header of the caller's making. */
function expectInOrder(reply: { status: number; text: string; headers: Record<string, unknown> }): void {
  expect(reply.status).toBeLessThan(500);
  expect(reply.headers['x-injected']).toBeUndefined();
  if (reply.status < 400) return;
  expectRefusal(reply.status, reply.text);
  expect(reply.text).not.toContain(MARK);
}

const BODIES: readonly [method: 'POST' | 'PATCH', path: string, fields: readonly string[], good: object][] = [
  ['POST', '/admin/v1/keys', ['name', 'scopes', 'models', 'budget', 'limits', 'expires_at'], { name: 'a' }],
  ['PATCH', '/admin/v1/keys/ID', ['name', 'scopes', 'models', 'budget', 'limits', 'expires_at', 'disabled'], {}],
  ['POST', '/admin/v1/keys/ID/rotate', ['overlap_seconds'], {}],
  [
    'POST',
    '/admin/v1/prices',
    ['model', 'input_usd', 'cached_input_usd', 'output_usd', 'effective_from'],
    { model: 'kev', input_usd: '1', output_usd: '1' },
  ],
  [
    'POST',
    '/admin/v1/models',
    ['id', 'model', 'embedder', 'more', 'questions', 'rows'],
    {
      ...{ id: 'support', questions: { urgent: { type: 'noul', instructions: 'Is it urgent?' } } },
      rows: [{ state: 'now', gold: { urgent: true } }],
    },
  ],
];

const QUERIES: readonly [path: string, parameters: readonly string[]][] = [
  ['/admin/v1/keys', ['limit', 'cursor']],
  ['/admin/v1/prices/history', ['model', 'limit', 'cursor']],
  ['/admin/v1/usage', ['from', 'to', 'group_by', 'key', 'model', 'endpoint', 'limit', 'cursor', 'format']],
  ['/admin/v1/requests', ['from', 'to', 'key', 'model', 'endpoint', 'limit', 'cursor', 'format']],
  ['/admin/v1/audit', ['limit', 'cursor']],
  ['/ai/v1/usage', ['from', 'to', 'group_by', 'model', 'endpoint', 'limit', 'cursor']],
];

export function describeHostile(store: string, start: () => Promise<AdminServer>): void {
  describe(`hostile texts on ${store}`, () => {
    let server: AdminServer;
    let admin: Caller;
    beforeAll(async () => {
      server = await start();
      admin = await server.createCaller({ scopes: ['inference', 'admin'] });
    });
    afterAll(() => server.close());

    describe.each(BODIES)('%s %s', (method, path, fields, good) => {
      it.each(fields)('takes no harm from hostile texts in %s', async (field) => {
        const { key } = await server.createCaller();
        const before = await server.keys.list();
        server.server.log.length = 0;
        for (const text of HOSTILE) {
          for (const value of [text, [text], { [text]: text }, { amount_usd: text, reset: text }]) {
            const body = JSON.stringify({ ...good, [field]: value });
            expectInOrder(await server.server.send(method, path.replace('ID', key.id), body, admin.headers));
          }
        }
        expect((await server.keys.list()).length).toBeGreaterThanOrEqual(before.length);
        expect(JSON.stringify(server.server.log)).not.toContain(MARK);
      });

      it('takes no field by a hostile name, and nothing that is no object', async () => {
        const { key } = await server.createCaller();
        const names = [...HOSTILE, 'toString', 'id', 'created_by', 'key', 'secret_hash'];
        for (const name of names) {
          const body = JSON.stringify(good).replace(
            '{',
            `{${JSON.stringify(name)}:1${Object.keys(good).length > 0 ? ',' : ''}`,
          );
          const reply = await server.server.send(method, path.replace('ID', key.id), body, admin.headers);
          expectInOrder(reply);
          expect([name, reply.status]).toEqual([name, 400]);
        }
        for (const body of [
          '[]',
          '1',
          '"x"',
          'true',
          '{"__proto__":{"name":"a"}}',
          `{"constructor":{"prototype":1}}`,
        ]) {
          const reply = await server.server.send(method, path.replace('ID', key.id), body, admin.headers);
          expectInOrder(reply);
          expect([body, reply.status]).toEqual([body, 400]);
        }
      });
    });

    describe.each(QUERIES)('GET %s', (path, parameters) => {
      it.each(parameters)('takes no harm from hostile texts in %s', async (name) => {
        server.server.log.length = 0;
        for (const text of HOSTILE) {
          const value = encodeURIComponent(text.toWellFormed());
          expectInOrder(await server.get(`${path}?${name}=${value}`, admin));
          expectInOrder(await server.get(`${path}?${name}=${value}&${name}=${value}`, admin));
          const unknown = await server.get(`${path}?${value}=1`, admin);
          expectInOrder(unknown);
          expect(unknown.status).toBe(400);
        }
        expect(JSON.stringify(server.server.log)).not.toContain(MARK);
      });
    });

    describe('an id in a path', () => {
      it.each(HOSTILE)('does no harm as %j', async (text) => {
        const id = encodeURIComponent(text.toWellFormed());
        const path = `/admin/v1/keys/${id}`;
        for (const reply of [
          await server.get(path, admin),
          await server.patch(path, admin, { name: 'a' }),
          await server.post(`${path}/rotate`, admin),
          await server.post(`${path}/revoke`, admin),
          await server.get(`/admin/v1/models/${id}!`, admin),
          await server.server.send('DELETE', `/admin/v1/models/${id}!`, undefined, admin.headers),
        ]) {
          expectInOrder(reply);
          expect(reply.status).toBe(404);
        }
      });
    });

    describe('what was stored of it', () => {
      it('is the text itself, in JSON, and harmless in CSV', async () => {
        const name = "Robert'); DROP TABLE api_keys; --";
        const { json } = await server.post('/admin/v1/keys', admin, { name, models: ['__proto__', "' OR 1=1"] });
        expect(json).toMatchObject({ name, models: ['__proto__', "' OR 1=1"] });
        expect((await server.get(`/admin/v1/keys/${json.id}`, admin)).json.name).toBe(name);
        await server.bill(admin.key, { id: 'h1', modelId: '=cmd|calc', requestId: '@SUM(1)', errorCode: '-1' });
        server.clock.nowMs += 1;
        const { text } = await server.get('/admin/v1/requests?format=csv', admin);
        expect(text).toMatch(/h1,'@SUM\(1\),key_\w+,'=cmd\|calc,.*,'-1,/);
      });

      it('never is the prototype of anything', async () => {
        await server.post('/admin/v1/prices', admin, { model: '__proto__', input_usd: '1', output_usd: '1' });
        const { json } = await server.get('/admin/v1/prices/history?model=__proto__', admin);
        expect(json.data[0]).toMatchObject({ model: '__proto__', input_usd: '1' });
        expect(({} as Record<string, unknown>)['input_usd']).toBeUndefined();
      });
    });

    describe('a request id of the caller', () => {
      it('is on one line of the log and of the reply', async () => {
        server.server.log.length = 0;
        const reply = await server.get('/admin/v1/keys', admin, { 'x-request-id': 'a"},{"level":60' });
        expect(reply.headers['x-request-id']).toBe('a"},{"level":60');
        expect(server.server.log).toHaveLength(1);
        expect(server.server.log[0]).toMatchObject({ level: 30, requestId: 'a"},{"level":60' });
      });
    });
  });
}
