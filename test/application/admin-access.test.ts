// Who gets to which routes: scopes, the order of checks, what a refused attempt leaves behind.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminServer, type Caller, CONFIGURED_KEY } from './admin-server.ts';

let server: AdminServer;
let admin: Caller;
let user: Caller;
beforeAll(async () => {
  server = await AdminServer.start();
  admin = await server.createCaller({ scopes: ['admin'] });
  user = await server.createCaller({ scopes: ['inference'] });
});
afterAll(() => server.close());

const decision = { model: 'kev', state: '', questions: { q: { type: 'noul', instructions: '?' } } };
const INFERENCE_ROUTES = [
  ['GET', '/ai/v1/models', undefined],
  ['GET', '/ai/v1/models/kev', undefined],
  ['GET', '/ai/v1/usage', undefined],
  ['POST', '/ai/v1/systemone', decision],
  ['POST', '/ai/v1/embeddings', { model: 'text-embed-mini', input: 'a' }],
  ['POST', '/ai/v1/rerank', { model: 'reranker', query: 'a', documents: ['a'] }],
  ['POST', '/ai/v1/chat/completions', { model: 'llama', messages: [] }],
] as const;
const ADMIN_ROUTES = [
  ['GET', '/admin/v1/keys', 200],
  ['POST', '/admin/v1/keys', 400],
  ['GET', '/admin/v1/keys/key_0', 404],
  ['PATCH', '/admin/v1/keys/key_0', 400],
  ['POST', '/admin/v1/keys/key_0/rotate', 404],
  ['POST', '/admin/v1/keys/key_0/revoke', 404],
  ['GET', '/admin/v1/prices', 200],
  ['GET', '/admin/v1/prices/history', 200],
  ['POST', '/admin/v1/prices', 400],
  ['GET', '/admin/v1/usage', 200],
  ['GET', '/admin/v1/requests', 200],
  ['GET', '/admin/v1/audit', 200],
  ['GET', '/admin/v1/keys/key_0/standing', 404],
  ['GET', '/admin/v1/latency', 200],
  ['GET', '/admin/v1/requests/feed', 200],
  ['GET', '/admin/v1/status', 200],
  ['GET', '/admin/v1/models', 200],
  ['POST', '/admin/v1/models', 400],
  ['GET', '/admin/v1/models/support', 404],
  ['DELETE', '/admin/v1/models/support', 404],
] as const;

describe('the scope inference', () => {
  it.each(INFERENCE_ROUTES)('%s %s is for it alone', async (method, path, body) => {
    expect((await server.server.send(method, path, body, user.headers)).status).toBe(200);
    const refused = await server.server.send(method, path, body, admin.headers);
    expect([refused.status, refused.json.error]).toEqual([
      403,
      {
        message: 'This key lacks the scope "inference".',
        type: 'permission_error',
        param: null,
        code: 'insufficient_scope',
      },
    ]);
  });
});

describe('the scope admin', () => {
  it.each(ADMIN_ROUTES)('%s %s is for it alone', async (method, path, status) => {
    expect((await server.server.send(method, path, undefined, admin.headers)).status).toBe(status);
    const refused = await server.server.send(method, path, undefined, user.headers);
    expect([refused.status, refused.json.error.code]).toEqual([403, 'insufficient_scope']);
    const stranger = await server.server.send(method, path, undefined, { authorization: 'Bearer ump_no' });
    expect([stranger.status, stranger.json.error.code]).toEqual([401, 'invalid_api_key']);
    expect(stranger.headers['www-authenticate']).toBe('Bearer');
  });

  it('names every route of the description', async () => {
    const { paths } = (await server.get('/openapi.json', admin)).json;
    const described = Object.entries(paths as Record<string, object>)
      .filter(([path]) => path.startsWith('/admin/'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
    const tested = ADMIN_ROUTES.map(([method, path]) => `${method} ${path.replace(/key_0|support/, '{id}')}`);
    expect(described.sort()).toEqual(tested.sort());
  });

  it('given to a key beside inference opens both', async () => {
    const both = await server.createCaller({ scopes: ['inference', 'admin'] });
    expect((await server.get('/admin/v1/keys', both)).status).toBe(200);
    expect((await server.get('/ai/v1/models', both)).status).toBe(200);
  });

  it('comes with the key of the configuration', async () => {
    const other = await AdminServer.start({ fixedSecret: CONFIGURED_KEY });
    const headers = { authorization: `Bearer ${CONFIGURED_KEY}` };
    const reply = await other.server.send('POST', '/admin/v1/keys', { name: 'first' }, headers);
    expect([reply.status, reply.json.created_by]).toEqual([201, 'key_configured']);
    await other.close();
  });
});

describe('the order of checks', () => {
  it.each([
    ['/admin/v1/nowhere', 404],
    ['/admin/v1', 404],
    ['/admin/v1/key', 404],
    ['/admin/v1/keys/', 200],
    ['/admin/v1/keys/a/b/c', 404],
  ])('tells of the route %s, missing or not, only those who may administer', async (path, status) => {
    const statuses = [
      await server.server.app.inject(path).then((reply) => reply.statusCode),
      (await server.get(path, user)).status,
      (await server.get(path, admin)).status,
    ];
    expect(statuses).toEqual([401, 403, status]);
  });

  it('is key, scope, route, method, body', async () => {
    const send = async (headers: Record<string, string>, path: string, body?: string) => {
      const reply = await server.server.send('POST', path, body, headers);
      return `${reply.status} ${reply.json.error.code}`;
    };
    const large = JSON.stringify({ name: 'x'.repeat(300 * 1024) });
    expect([
      await send({}, '/admin/v1/keys', large),
      await send(user.headers, '/admin/v1/keys', large),
      await send(admin.headers, '/admin/v1/nokeys', large),
      await send(admin.headers, '/admin/v1/audit', large),
      await send(admin.headers, '/admin/v1/keys', large),
      await send(admin.headers, '/admin/v1/keys', '{'),
    ]).toEqual([
      '401 invalid_api_key',
      '403 insufficient_scope',
      '404 not_found',
      '405 method_not_allowed',
      '413 request_too_large',
      '400 invalid_request',
    ]);
  });

  it('is not there at all on a server without a store', async () => {
    const reply = await server.server.app.inject({ url: '/admin/v2/keys', headers: admin.headers });
    expect(reply.statusCode).toBe(404);
  });
});

describe('a refused attempt', () => {
  it('leaves a warning with the id of its key, never the key', async () => {
    server.server.log.length = 0;
    await server.post('/admin/v1/keys', user, { name: 'mine', scopes: ['admin'] });
    expect(server.server.log).toEqual([
      expect.objectContaining({ level: 40, keyId: user.key.id, scope: 'admin', method: 'POST' }),
      expect.objectContaining({ route: '/admin/v1/keys', status: 403, code: 'insufficient_scope', keyId: user.key.id }),
    ]);
    expect(JSON.stringify(server.server.log)).not.toContain(user.secret);
    const { text } = await server.get('/metrics', admin);
    expect(text).toMatch(/umpire_http_requests_total\{method="POST",route="\/admin\/v1\/keys",status="403"\} \d/);
  });

  it('changes nothing', async () => {
    const before = await server.keys.list();
    const path = `/admin/v1/keys/${user.key.id}`;
    await server.patch(path, user, { scopes: ['admin'] });
    await server.post(`${path}/rotate`, user);
    await server.post(`${path}/revoke`, user);
    await server.post('/admin/v1/prices', user, { model: 'kev', input_usd: '0', output_usd: '0' });
    expect(await server.keys.list()).toEqual(before);
    expect((await server.get('/admin/v1/prices/history', admin)).json.data).toEqual([]);
  });
});

describe('a store that fails', () => {
  it('is a 503 on every route, also where a file was asked for', async () => {
    const other = await AdminServer.start({ fixedSecret: CONFIGURED_KEY });
    const headers = { authorization: `Bearer ${CONFIGURED_KEY}` };
    await other.stores.close();
    const bodies: Record<string, object> = {
      '/admin/v1/keys': { name: 'a' },
      '/admin/v1/prices': { model: 'kev', input_usd: '1', output_usd: '1' },
      '/admin/v1/keys/key_0': { name: 'a' },
      '/admin/v1/models': {
        id: 'support',
        questions: { urgent: { type: 'noul', instructions: 'Is it urgent?' } },
        rows: [{ state: 'now', gold: { urgent: true } }],
      },
    };
    const files = [
      ['GET', '/admin/v1/requests?format=csv'],
      ['GET', '/admin/v1/usage?format=csv'],
      ['GET', '/ai/v1/usage'],
    ] as const;
    // What is in force and how the server does are known; everything else is asked of the store.
    const known = ['GET /admin/v1/prices', 'GET /admin/v1/status', 'GET /admin/v1/models'];
    const routes = [...ADMIN_ROUTES, ...files].filter(
      ([method, path]) => !known.includes(`${method} ${path}`) && !path.endsWith('/support'),
    );
    for (const [method, path] of routes) {
      const body = method === 'GET' ? undefined : bodies[path];
      const { status, json } = await other.server.send(method, path, body, headers);
      expect([path, status, json.error.code]).toEqual([path, 503, 'store_unavailable']);
    }
    await other.close();
  });
});

describe('an administrator', () => {
  it.each([
    ['revoking', 'POST', '/revoke', undefined],
    ['disabling', 'PATCH', '', { disabled: true }],
    ['taking the scope from', 'PATCH', '', { scopes: ['inference'] }],
  ] as const)('is kept from %s the very key that calls', async (_what, method, tail, body) => {
    const reply = await server.server.send(method, `/admin/v1/keys/${admin.key.id}${tail}`, body, admin.headers);
    expect([reply.status, reply.json.error.code]).toEqual([409, 'conflict']);
    expect((await server.get('/admin/v1/keys', admin)).status).toBe(200);
  });

  it('may rotate its own key: the reply has the new secret', async () => {
    const own = await server.createCaller({ scopes: ['admin'] });
    const { json } = await server.post(`/admin/v1/keys/${own.key.id}/rotate`, own, { overlap_seconds: 0 });
    expect((await server.get('/admin/v1/keys', own)).status).toBe(401);
    const next = { ...own, headers: { authorization: `Bearer ${json.key}` } };
    expect((await server.get('/admin/v1/keys', next)).status).toBe(200);
  });
});
