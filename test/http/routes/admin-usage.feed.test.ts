// /admin/v1/requests/feed: what has ended since, each request once, also where two servers share one PostgreSQL.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStores } from '../../../src/storage/postgres/open-postgres-stores.ts';
import { AdminServer, type Caller, NOON_MS } from '../../application/admin-server.ts';
import { PostgresServer } from '../../postgres/postgres-server.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;

interface Reading {
  readonly ids: readonly string[];
  readonly next_cursor: string;
  readonly has_more: boolean;
  readonly has_gap: boolean;
}

async function read(server: AdminServer, caller: Caller, query = ''): Promise<Reading> {
  const { status, json } = await server.get(`/admin/v1/requests/feed${query}`, caller);
  expect([status, json.object]).toEqual([200, 'request_feed']);
  return { ...json, ids: json.data.map(({ id }: { id: string }) => id) };
}

describe('the feed of requests', () => {
  let server: AdminServer;
  let admin: Caller;
  beforeAll(async () => {
    server = await AdminServer.start();
    admin = await server.createCaller({ scopes: ['admin'] });
  });
  afterAll(() => server.close());

  const end = (id: string, endedAtMs: number, durationMs = 10) =>
    server.bill(admin.key, { id, acceptedAtMs: endedAtMs - durationMs, durationMs });

  it('begins with the last that ended, and goes on with what has ended since', async () => {
    const empty = await read(server, admin);
    expect(empty).toMatchObject({ ids: [], has_more: false, has_gap: false });
    for (let index = 1; index <= 5; index++) await end(`a${index}`, NOON_MS - 20 * SECOND_MS + index);
    await end('too new', NOON_MS - 1);
    const first = await read(server, admin, '?limit=3');
    expect(first.ids).toEqual(['a3', 'a4', 'a5']);
    expect(first.has_more).toBe(false);
    expect((await read(server, admin, `?cursor=${first.next_cursor}`)).ids).toEqual([]);
    server.clock.nowMs += 2 * SECOND_MS;
    await end('long', NOON_MS + 500, HOUR_MS);
    const second = await read(server, admin, `?cursor=${first.next_cursor}`);
    expect(second.ids).toEqual(['too new', 'long']);
    expect((await read(server, admin, `?cursor=${second.next_cursor}`)).ids).toEqual([]);
  });

  it('has more at once where it did not fit, and loses nothing between', async () => {
    const { next_cursor } = await read(server, admin);
    const wanted = Array.from({ length: 7 }, (_, index) => `b${index}`);
    for (const id of wanted) await end(id, server.clock.nowMs);
    server.clock.nowMs += 5 * SECOND_MS;
    const seen: string[] = [];
    let page = await read(server, admin, `?limit=3&cursor=${next_cursor}`);
    seen.push(...page.ids);
    while (page.has_more) {
      page = await read(server, admin, `?limit=3&cursor=${page.next_cursor}`);
      seen.push(...page.ids);
    }
    expect(seen).toEqual(wanted);
  });

  it('says where a cursor is so old that requests are left out', async () => {
    const { next_cursor } = await read(server, admin);
    server.clock.nowMs += HOUR_MS + 5 * SECOND_MS;
    await end('c1', server.clock.nowMs - 2 * SECOND_MS);
    const late = await read(server, admin, `?cursor=${next_cursor}`);
    expect(late).toMatchObject({ ids: ['c1'], has_gap: true });
    expect((await read(server, admin, `?cursor=${late.next_cursor}`)).has_gap).toBe(false);
  });

  it('stays where it is for a cursor of a server whose clock is ahead', async () => {
    const ahead = `${server.clock.nowMs + 60 * SECOND_MS}.`;
    expect(await read(server, admin, `?cursor=${ahead}`)).toMatchObject({ ids: [], next_cursor: ahead });
  });

  it('tells of a request what the list of requests tells, and no text', async () => {
    const { json } = await server.get('/admin/v1/requests/feed?limit=1', admin);
    const [row] = (await server.get(`/admin/v1/requests?limit=1`, admin)).json.data;
    expect(json.data).toEqual([row]);
  });

  it('ends for a key that was revoked', async () => {
    const other = await server.createCaller({ scopes: ['admin'] });
    await read(server, other);
    await server.post(`/admin/v1/keys/${other.key.id}/revoke`, admin);
    const { status, json } = await server.get('/admin/v1/requests/feed', other);
    expect([status, json.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it.each([
    'cursor=',
    'cursor=1',
    "cursor=1.'--",
    'cursor=-1.a',
    'limit=0',
    'limit=1001',
    'key=key_1',
    'cursor=1.a&cursor=2.b',
  ])('is refused with 400: ?%s', async (query) => {
    const { status, json } = await server.get(`/admin/v1/requests/feed?${query}`, admin);
    expect([status, json.error.code]).toEqual([400, 'invalid_request']);
  });
});

describe('the feed of two servers on one PostgreSQL', () => {
  let postgres: PostgresServer;
  let servers: readonly [AdminServer, AdminServer];
  beforeAll(async () => {
    postgres = await PostgresServer.start();
    const url = await postgres.createDatabase();
    const limits = { poolSize: 3, connectTimeoutMs: 10_000, statementTimeoutMs: 10_000 };
    const open = () => openPostgresStores({ url, ...limits });
    servers = [await AdminServer.start({ open }), await AdminServer.start({ open })];
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
    await postgres.dispose();
  });

  it('has the requests of both, whichever of them is asked', async () => {
    const [one, two] = servers;
    const admin = await one.createCaller({ scopes: ['admin'] });
    const { next_cursor } = await read(one, admin);
    await one.bill(admin.key, { id: 'of-one' });
    await two.bill(admin.key, { id: 'of-two', durationMs: 13 });
    for (const server of servers) server.clock.nowMs += 5 * SECOND_MS;
    const half = await read(two, admin, `?limit=1&cursor=${next_cursor}`);
    expect(half).toMatchObject({ ids: ['of-one'], has_more: true });
    expect((await read(one, admin, `?cursor=${half.next_cursor}`)).ids).toEqual(['of-two']);
  });
});
