// Hostile texts over PostgreSQL, and an administrator's day there: every kind of reply comes from another database.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStores } from '../../src/storage/postgres/open-postgres-stores.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { PostgresServer } from '../postgres/postgres-server.ts';
import { describeHostile } from './admin-hostile.suite.ts';
import { AdminServer } from './admin-server.ts';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await PostgresServer.start();
});
afterAll(() => postgres.dispose());

async function start(): Promise<AdminServer> {
  const url = await postgres.createDatabase();
  const open = (): Promise<Stores> =>
    openPostgresStores({ url, poolSize: 4, connectTimeoutMs: 10_000, statementTimeoutMs: 60_000 });
  return await AdminServer.start({ open });
}

describeHostile('PostgreSQL', start);

describe('administration on PostgreSQL', () => {
  it('answers as on SQLite: keys, prices, reports, audit', async () => {
    const server = await start();
    const admin = await server.createCaller({ scopes: ['admin'] });
    const { json: made } = await server.post('/admin/v1/keys', admin, { name: 'a', budget: { amount_usd: '1' } });
    const { json: rotated } = await server.post(`/admin/v1/keys/${made.id}/rotate`, admin);
    const user = { ...admin, headers: { authorization: `Bearer ${rotated.key}` } };
    await server.bill(await server.keys.get(made.id), { id: 'p1', costPicoUsd: 3n });
    server.clock.nowMs += 1;
    await server.post('/admin/v1/prices', admin, { model: 'kev', input_usd: '2', output_usd: '0' });
    expect((await server.get('/ai/v1/usage?group_by=model,hour', user)).json).toMatchObject({
      data: [{ model: 'kev', start: '2026-11-21T12:00:00.000Z', requests: 1, cost_pico_usd: '3' }],
      budget: { spent_usd: '0.000000000003', remaining_usd: '0.999999999997', resets_at: null },
    });
    expect((await server.get(`/admin/v1/keys/${made.id}`, admin)).json.last_used_at).toBe('2026-11-21T12:00:00.000Z');
    expect((await server.get('/admin/v1/requests', admin)).json.data).toMatchObject([{ id: 'p1', cost_pico_usd: '3' }]);
    const csv = (await server.get('/admin/v1/usage?group_by=key&format=csv', admin)).text;
    expect(csv.split('\r\n')[1]).toBe(`${made.id},1,100,0,0,0,0.000000000003,3`);
    expect((await server.get('/ai/v1/models/kev', user)).json.price).toEqual({ input: 2, output: 0 });
    const { data } = (await server.get('/admin/v1/audit', admin)).json;
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      'price.set',
      'key.rotate',
      'key.create',
      'key.create',
    ]);
    await server.close();
  });
});
