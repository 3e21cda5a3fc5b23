// /admin/v1/status and /admin/v1/keys/{id}/standing: how the server and a key fare.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminServer, type Caller } from '../../application/admin-server.ts';

let server: AdminServer;
let admin: Caller;
beforeAll(async () => {
  server = await AdminServer.start();
  admin = await server.createCaller({ scopes: ['admin'] });
});
afterAll(() => server.close());

describe('the status', () => {
  it('tells of workers, queue and caches, as the engine knows them', async () => {
    const { status, json, headers } = await server.get('/admin/v1/status', admin);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(json).toMatchObject({
      object: 'server_status',
      host: 'test',
      version: '1.2.3',
      started_at: '1970-01-01T00:00:00.000Z',
      state: 'ready',
      requests_under_way: 1,
      engine: { device: 'cpu', workers: 2, busy_workers: 1, queued_jobs: 3, queued_cost_ms: 40 },
      caches: { state_tokens: 0, kept_tokens: 0, answers: null },
    });
  });

  it('counts refusals by code, those that leave no row among them', async () => {
    const stranger = { ...admin, headers: { authorization: 'Bearer ump_nobody' } };
    await server.get('/ai/v1/models', stranger);
    await server.get('/ai/v1/models', stranger);
    const user = await server.createCaller();
    expect((await server.get('/admin/v1/status', user)).status).toBe(403);
    const { errors } = (await server.get('/admin/v1/status', admin)).json;
    expect(errors).toEqual([
      { code: 'invalid_api_key', status: 401, since_start: 2, last_hour: 2, by_minute: expect.any(Array) },
      { code: 'insufficient_scope', status: 403, since_start: 1, last_hour: 1, by_minute: expect.any(Array) },
    ]);
    expect(errors[0].by_minute).toHaveLength(60);
  });

  it('takes no parameters', async () => {
    expect((await server.get('/admin/v1/status?since=1', admin)).status).toBe(400);
  });
});

describe('the standing of a key', () => {
  it('is its budget and its limits as they stand now', async () => {
    const budget = { amountPicoUsd: 5_000_000n, reset: 'month' } as const;
    const { key } = await server.createCaller({ budget, limits: { requestsPerMinute: 10 } });
    await server.bill(key, { id: 'r1' });
    const { status, json } = await server.get(`/admin/v1/keys/${key.id}/standing`, admin);
    expect([status, json.object, json.key]).toEqual([200, 'key_standing', key.id]);
    expect(json.budget).toMatchObject({ amount_usd: '0.000005', spent_usd: '0.00000378', remaining_usd: '0.00000122' });
    expect(json.limits).toMatchObject({
      requests_per_minute: { limit: 10, remaining: 9 },
      tokens_per_minute: null,
      concurrent_requests: null,
    });
  });

  it('of a key that there is not is 404', async () => {
    const { status, json } = await server.get('/admin/v1/keys/key_none/standing', admin);
    expect([status, json.error.code]).toEqual([404, 'not_found']);
  });
});
