// /admin/v1/latency: percentiles of the ledger's times.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminServer, type Caller, NOON_MS } from '../../application/admin-server.ts';

const HOUR_MS = 3_600_000;

let server: AdminServer;
let admin: Caller;
let user: Caller;
beforeAll(async () => {
  server = await AdminServer.start();
  admin = await server.createCaller({ scopes: ['admin'] });
  user = await server.createCaller();
  for (let index = 1; index <= 100; index++) {
    const acceptedAtMs = NOON_MS - HOUR_MS;
    await server.bill(user.key, { id: `r${index}`, acceptedAtMs, durationMs: 10 * index, waitMs: index });
  }
  await server.bill(user.key, {
    id: 'slow',
    modelId: 'llama',
    acceptedAtMs: NOON_MS - 1,
    durationMs: 123_456,
    waitMs: null,
  });
  await server.bill(user.key, {
    id: 'failed',
    acceptedAtMs: NOON_MS - 1,
    durationMs: 99_999,
    end: 'failed',
    status: 500,
  });
});
afterAll(() => server.close());

const report = async (query: string) => (await server.get(`/admin/v1/latency${query}`, admin)).json;

describe('a latency report', () => {
  it('has the percentiles of this month unless something else is asked, of completed requests alone', async () => {
    expect(await report('?model=kev')).toEqual({
      object: 'latency_report',
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-11-21T12:00:00.000Z',
      measure: 'duration',
      data: [{ requests: 100, p50_ms: 500, p90_ms: 900, p95_ms: 950, p99_ms: 990, longest_ms: 1000 }],
      next_cursor: null,
    });
  });

  it('measures the wait where it is asked', async () => {
    const { measure, data } = await report('?measure=wait');
    expect([measure, data]).toEqual([
      'wait',
      [{ requests: 100, p50_ms: 50, p90_ms: 90, p95_ms: 95, p99_ms: 99, longest_ms: 100 }],
    ]);
  });

  it('goes by model and time, in pages', async () => {
    const first = await report('?group_by=model,hour&limit=1');
    expect(first.data).toEqual([
      expect.objectContaining({ model: 'kev', start: '2026-11-21T11:00:00.000Z', p50_ms: 500 }),
    ]);
    const second = await report(`?group_by=model,hour&limit=1&cursor=${first.next_cursor}`);
    expect(second.data).toEqual([expect.objectContaining({ model: 'llama', p50_ms: 123_000, longest_ms: 123_456 })]);
    expect(second.next_cursor).toBeNull();
  });

  it('is empty where nothing was completed', async () => {
    expect((await report('?model=none')).data).toEqual([]);
    expect((await report('?model=none&group_by=key')).data).toEqual([]);
  });

  it.each([
    ['from=2026-10-20', 'from'],
    ['group_by=minute', 'from'],
    ['group_by=end', 'group_by'],
    ['group_by=hour,minute', 'group_by'],
    ['measure=size', 'measure'],
    ['from=2026-11-21&to=2026-11-21', 'from'],
    ['limit=0', 'limit'],
    ['cursor=x', 'cursor'],
    ['format=csv', null],
  ])('is refused with 400: ?%s', async (query, param) => {
    const { error } = await report(`?${query}`);
    expect([error.code, error.param]).toEqual(['invalid_request', param]);
  });

  it('by the minute is of two days at most, as is one of usage', async () => {
    expect((await report('?group_by=minute&from=2026-11-19T12:00:00Z')).data).toHaveLength(2);
    const usage = async (from: string) => await server.get(`/admin/v1/usage?group_by=minute&from=${from}`, admin);
    expect((await usage('2026-11-19T12:00:00Z')).json.data).toHaveLength(2);
    expect((await usage('2026-11-19T11:59:59Z')).json.error.param).toBe('from');
  });
});
