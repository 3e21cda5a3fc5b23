// /admin/v1/keys from creation to revocation, over a real store.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keySchema } from '../../../src/http/schemas/admin-key.ts';
import { AdminServer, type Caller } from '../../application/admin-server.ts';

const SECRET = /^ump_[0-9A-Za-z]{38}$/;

let server: AdminServer;
let admin: Caller;
beforeAll(async () => {
  server = await AdminServer.start();
  admin = await server.createCaller({ name: 'admin', scopes: ['admin'] });
});
afterAll(() => server.close());

const now = () => new Date(server.clock.nowMs).toISOString();
const create = async (body: object) => await server.post('/admin/v1/keys', admin, body);
const asCaller = (secret: string): Caller => ({ ...admin, secret, headers: { authorization: `Bearer ${secret}` } });
const works = async (secret: string) => (await server.get('/ai/v1/models', asCaller(secret))).status === 200;

const FULL = {
  name: ' billing ',
  scopes: ['inference', 'admin'],
  models: ['kev', 'text-*'],
  budget: { amount_usd: '12.50', reset: 'month' },
  limits: { requests_per_minute: 600, tokens_per_minute: null, concurrent_requests: 8 },
  expires_at: '2027-01-31T00:00:00+01:00',
};

describe('creating a key', () => {
  it('shows it once, with its secret', async () => {
    const { status, json, headers } = await create(FULL);
    expect(status).toBe(201);
    expect(headers['cache-control']).toBe('no-store');
    const { key: secret, ...shown } = json;
    expect(secret).toMatch(SECRET);
    expect(shown).toEqual({
      object: 'api_key',
      id: expect.stringMatching(/^key_[0-9A-Za-z]{16}$/),
      name: 'billing',
      visible_prefix: secret.slice(0, 8),
      state: 'active',
      scopes: ['inference', 'admin'],
      models: ['kev', 'text-*'],
      budget: { amount_usd: '12.5', reset: 'month' },
      limits: { requests_per_minute: 600, tokens_per_minute: null, concurrent_requests: 8 },
      created_at: now(),
      created_by: admin.key.id,
      expires_at: '2027-01-30T23:00:00.000Z',
      disabled_at: null,
      revoked_at: null,
      last_used_at: null,
    });
    expect(keySchema.safeParse(shown).error).toBeUndefined();
    expect((await server.get(`/admin/v1/keys/${shown.id}`, admin)).json).toEqual(shown);
    expect((await server.get('/ai/v1/models', asCaller(secret))).json.data.map(({ id }: { id: string }) => id)).toEqual(
      ['kev', 'text-embed-mini'],
    );
  });

  it('needs no more than a name', async () => {
    const { json } = await create({ name: 'plain' });
    expect(json).toMatchObject({ scopes: ['inference'], models: null, budget: null, expires_at: null });
    expect(json.limits).toEqual({ requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null });
    expect(await works(json.key)).toBe(true);
  });

  it.each([
    ['no body', undefined, null, /must be a JSON object/],
    ['an array', [], null, /must be a JSON object/],
    ['null', null, null, /must be a JSON object/],
    ['no name', {}, 'name', /'name' must be a string/],
    ['a number as name', { name: 1 }, 'name', /'name' must be a string/],
    ['an empty name', { name: ' ' }, 'name', /needs a name/],
    ['a long name', { name: 'x'.repeat(201) }, 'name', /at most 200/],
    ['an unknown field', { name: 'a', colour: 'red' }, null, /not known here. It takes: name, scopes, models/],
    ['a field of a reply', { name: 'a', created_by: 'server' }, null, /not known here/],
    ['no scope', { name: 'a', scopes: [] }, 'scopes', /at least one scope/],
    ['an unknown scope', { name: 'a', scopes: ['inference', 'root'] }, 'scopes[1]', /"inference" or "admin"/],
    ['a scope as text', { name: 'a', scopes: 'admin' }, 'scopes', /must be an array/],
    ['a model that is no text', { name: 'a', models: ['kev', 1] }, 'models[1]', /must be a string/],
    ['an empty model', { name: 'a', models: [''] }, 'models[0]', /1 to 256/],
    ['a budget as number', { name: 'a', budget: 5 }, 'budget', /'budget' must be an object/],
    ['an amount as number', { name: 'a', budget: { amount_usd: 5 } }, 'budget.amount_usd', /dollars as text/],
    ['a negative amount', { name: 'a', budget: { amount_usd: '-1' } }, 'budget.amount_usd', /dollars as text/],
    ['an exponent', { name: 'a', budget: { amount_usd: '1e3' } }, 'budget.amount_usd', /dollars as text/],
    ['too many decimals', { name: 'a', budget: { amount_usd: '0.0000000000001' } }, 'budget.amount_usd', /dollars/],
    ['a huge amount', { name: 'a', budget: { amount_usd: '1000000.01' } }, 'budget.amount_usd', /at most 1,000,000/],
    ['an unknown reset', { name: 'a', budget: { amount_usd: '1', reset: 'week' } }, 'budget.reset', /"day"/],
    ['a budget without amount', { name: 'a', budget: { reset: 'day' } }, 'budget.amount_usd', /dollars as text/],
    ['an unknown part', { name: 'a', budget: { amount_usd: '1', spent: '0' } }, 'budget', /takes: amount_usd, reset/],
    ['a limit of 0', { name: 'a', limits: { requests_per_minute: 0 } }, 'limits.requests_per_minute', /from 1/],
    ['a broken limit', { name: 'a', limits: { tokens_per_minute: 1.5 } }, 'limits.tokens_per_minute', /whole/],
    ['an unknown limit', { name: 'a', limits: { per_day: 1 } }, 'limits', /'limits' has a name that is not known/],
    ['a past end', { name: 'a', expires_at: '2026-11-21' }, 'expires_at', /in the future/],
    ['a time without zone', { name: 'a', expires_at: '2027-01-01T00:00:00' }, 'expires_at', /with a zone/],
    ['a day of no calendar', { name: 'a', expires_at: '2027-02-30' }, 'expires_at', /date or a moment/],
    ['a number as time', { name: 'a', expires_at: 1_900_000_000_000 }, 'expires_at', /date or a moment/],
  ])('is refused with 400: %s', async (_what, body, param, message) => {
    const before = await server.keys.list();
    const { status, json } = await server.post('/admin/v1/keys', admin, body);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
    expect(json.error.message).toMatch(message);
    expect(await server.keys.list()).toHaveLength(before.length);
  });

  it.each([
    ['names given twice', '{"name":"a","scopes":["inference"],"scopes":["admin"]}'],
    ['broken JSON', '{"name":'],
    ['deep nesting', `{"name":${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('is refused with 400: %s', async (_what, body) => {
    const { status, json } = await server.post('/admin/v1/keys', admin, body);
    expect([status, json.error.code]).toEqual([400, 'invalid_request']);
  });
});

describe('listing keys', () => {
  it('goes page by page, oldest first, without secrets', async () => {
    const server = await AdminServer.start();
    const admin = await server.createCaller({ name: 'admin', scopes: ['admin'] });
    for (const name of ['a', 'b', 'c']) {
      server.clock.nowMs += 1;
      await server.post('/admin/v1/keys', admin, { name });
    }
    const first = (await server.get('/admin/v1/keys?limit=3', admin)).json;
    expect(first.data.map(({ name }: { name: string }) => name)).toEqual(['admin', 'a', 'b']);
    expect(first.next_cursor).toBe(first.data[2].id);
    const second = (await server.get(`/admin/v1/keys?limit=3&cursor=${first.next_cursor}`, admin)).json;
    expect(second.data.map(({ name }: { name: string }) => name)).toEqual(['c']);
    expect(second.next_cursor).toBeNull();
    await server.close();
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['cursor=nope', 'cursor'],
    [`cursor=key_${'x'.repeat(300)}`, 'cursor'],
    ['cursor=key_1%00', 'cursor'],
    ['page=2', null],
  ])('is refused with 400: ?%s', async (query, param) => {
    const { status, json } = await server.get(`/admin/v1/keys?${query}`, admin);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
  });
});

describe('changing a key', () => {
  it('changes what is named and leaves the rest', async () => {
    const { key: _secret, ...before } = (await create(FULL)).json;
    const path = `/admin/v1/keys/${before.id}`;
    expect((await server.patch(path, admin, {})).json).toEqual(before);
    const change = { name: 'new', models: null, limits: { requests_per_minute: null }, expires_at: null };
    const { status, json } = await server.patch(path, admin, change);
    expect(status).toBe(200);
    expect(json).toEqual({
      ...before,
      name: 'new',
      models: null,
      limits: { ...before.limits, requests_per_minute: null },
      expires_at: null,
    });
    const next = (await server.patch(path, admin, { budget: null, scopes: ['inference'] })).json;
    expect(next).toEqual({ ...json, budget: null, scopes: ['inference'] });
    expect((await server.get(path, admin)).json).toEqual(next);
  });

  it('disables and enables, at once', async () => {
    const { id, key: secret } = (await create({ name: 'a' })).json;
    expect(await works(secret)).toBe(true);
    const disabled = await server.patch(`/admin/v1/keys/${id}`, admin, { disabled: true });
    expect(disabled.json).toMatchObject({ state: 'disabled', disabled_at: now() });
    expect(await works(secret)).toBe(false);
    const enabled = await server.patch(`/admin/v1/keys/${id}`, admin, { disabled: false });
    expect(enabled.json).toMatchObject({ state: 'active', disabled_at: null });
    expect(await works(secret)).toBe(true);
  });

  it.each([
    ['an unknown field', { color: 1 }, null],
    ['a secret', { key: 'ump_mine' }, null],
    ['a word for true', { disabled: 'yes' }, 'disabled'],
    ['null as name', { name: null }, 'name'],
    ['a wrong limit', { limits: { concurrent_requests: -1 } }, 'limits.concurrent_requests'],
    ['no body', undefined, null],
  ])('is refused with 400: %s', async (_what, body, param) => {
    const { id } = (await create({ name: 'a' })).json;
    const { status, json } = await server.patch(`/admin/v1/keys/${id}`, admin, body);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
  });
});

describe('rotating a key', () => {
  it('gives a new secret; the old one works until the overlap ends', async () => {
    const { id, key: old } = (await create({ name: 'a' })).json;
    const { status, json } = await server.post(`/admin/v1/keys/${id}/rotate`, admin, { overlap_seconds: 60 });
    const endsAt = new Date(server.clock.nowMs + 60_000).toISOString();
    expect([status, json.id, json.previous_secrets_expire_at]).toEqual([200, id, endsAt]);
    expect(json.key).toMatch(SECRET);
    expect(json.visible_prefix).toBe(json.key.slice(0, 8));
    expect([await works(old), await works(json.key)]).toEqual([true, true]);
    server.clock.nowMs += 60_000;
    expect([await works(old), await works(json.key)]).toEqual([false, true]);
  });

  it('without a body overlaps for a day', async () => {
    const { id } = (await create({ name: 'a' })).json;
    const replies = [
      await server.post(`/admin/v1/keys/${id}/rotate`, admin),
      await server.post(`/admin/v1/keys/${id}/rotate`, admin, {}),
      await server.post(`/admin/v1/keys/${id}/rotate`, admin, ''),
    ];
    const endsAt = new Date(server.clock.nowMs + 86_400_000).toISOString();
    for (const { json } of replies) expect(json.previous_secrets_expire_at).toBe(endsAt);
  });

  it.each([-1, 0.5, '60', 2_592_001, null])('is refused with 400 for an overlap of %j', async (overlap) => {
    const { id } = (await create({ name: 'a' })).json;
    const { status, json } = await server.post(`/admin/v1/keys/${id}/rotate`, admin, { overlap_seconds: overlap });
    expect([status, json.error.param]).toEqual([400, 'overlap_seconds']);
  });
});

describe('revoking a key', () => {
  it('is for good, and twice is once', async () => {
    const { id, key: secret } = (await create({ name: 'a' })).json;
    expect(await works(secret)).toBe(true);
    const first = await server.post(`/admin/v1/keys/${id}/revoke`, admin);
    expect([first.status, first.json.state, first.json.revoked_at]).toEqual([200, 'revoked', now()]);
    expect(await works(secret)).toBe(false);
    server.clock.nowMs += 1000;
    expect((await server.post(`/admin/v1/keys/${id}/revoke`, admin)).json).toEqual(first.json);
    const path = `/admin/v1/keys/${id}`;
    const later = [await server.patch(path, admin, { disabled: false }), await server.post(`${path}/rotate`, admin)];
    expect(later.map(({ status, json }) => [status, json.error.code])).toEqual([
      [409, 'conflict'],
      [409, 'conflict'],
    ]);
  });
});

describe('a key that does not exist', () => {
  it.each(['key_0000000000000000', 'key_', 'nope', "key_'%20OR%201=1--", '__proto__', '%00', 'key_configured'])(
    'is a 404: %s',
    async (id) => {
      const path = `/admin/v1/keys/${id}`;
      const replies = [
        await server.get(path, admin),
        await server.patch(path, admin, { name: 'a' }),
        await server.post(`${path}/rotate`, admin),
        await server.post(`${path}/revoke`, admin),
      ];
      for (const { status, json } of replies) expect([status, json.error.code]).toEqual([404, 'not_found']);
    },
  );
});

describe('a secret', () => {
  it('is in the reply that makes it and nowhere else', async () => {
    const created = (await create(FULL)).json;
    const rotated = (await server.post(`/admin/v1/keys/${created.id}/rotate`, admin)).json;
    await works(created.key);
    await server.post(`/admin/v1/keys/${created.id}/revoke`, admin);
    const replies = await Promise.all(
      ['keys', `keys/${created.id}`, 'audit', 'usage?group_by=key', 'requests', 'requests?format=csv'].map((path) =>
        server.get(`/admin/v1/${path}`, admin),
      ),
    );
    const everything = JSON.stringify([replies.map(({ text, headers }) => [text, headers]), server.server.log]);
    for (const secret of [created.key, rotated.key, admin.secret]) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(secret.slice(8, -6));
    }
    expect(created.key).not.toBe(rotated.key);
    expect(replies.every(({ status }) => status === 200)).toBe(true);
  });
});

describe('the audit trail', () => {
  it('tells who did what, newest first, page by page', async () => {
    const startMs = server.clock.nowMs;
    const { id } = (await create({ name: 'secret plans', budget: { amount_usd: '0.5' } })).json;
    server.clock.nowMs += 1000;
    await server.patch(`/admin/v1/keys/${id}`, admin, { name: 'other', disabled: true });
    await server.post(`/admin/v1/keys/${id}/rotate`, admin, { overlap_seconds: 0 });
    await server.post(`/admin/v1/keys/${id}/revoke`, admin);
    await server.post('/admin/v1/prices', admin, { model: 'kev', input_usd: '1', output_usd: '0' });
    const first = (await server.get('/admin/v1/audit?limit=4', admin)).json;
    const second = (await server.get(`/admin/v1/audit?limit=1&cursor=${first.next_cursor}`, admin)).json;
    expect([...first.data, ...second.data]).toMatchObject([
      { action: 'price.set', target: 'kev', actor: admin.key.id },
      { action: 'key.revoke', target: id, actor: admin.key.id, details: {} },
      { action: 'key.rotate', target: id, details: { overlap_seconds: 0 } },
      {
        action: 'key.update',
        target: id,
        details: { name: 'changed', disabled_at: new Date(startMs + 1000).toISOString() },
      },
      {
        action: 'key.create',
        target: id,
        at: new Date(startMs).toISOString(),
        details: { budget: { amount_usd: '0.5', reset: 'none' } },
      },
    ]);
    expect(JSON.stringify([first, second])).not.toMatch(/secret plans|other/);
    const all = (await server.get('/admin/v1/audit?limit=1000', admin)).json;
    expect(all.data.at(-1)).toMatchObject({ action: 'key.create', target: admin.key.id, actor: 'server' });
    expect(all.next_cursor).toBeNull();
  });

  it('keeps nothing of what was refused', async () => {
    const newest = async () => (await server.get('/admin/v1/audit?limit=1', admin)).json.data[0].id;
    const before = await newest();
    await create({ name: '' });
    await server.post(`/admin/v1/keys/${admin.key.id}/revoke`, admin);
    await server.post('/admin/v1/keys/key_nobody/rotate', admin);
    expect(await newest()).toBe(before);
  });

  it.each(['limit=x', 'cursor=a', 'cursor=-1', 'before=1'])('is refused with 400: ?%s', async (query) => {
    expect((await server.get(`/admin/v1/audit?${query}`, admin)).status).toBe(400);
  });
});
