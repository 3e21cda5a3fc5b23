// GET /ai/v1/usage: what the calling key used, where it stands, and that nothing of another key can be had.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownUsageSchema } from '../../../src/http/schemas/own-usage.ts';
import { AdminServer, type Caller, NOON_MS } from '../../application/admin-server.ts';

const DAY_MS = 86_400_000;
const USD = 10n ** 12n;

let server: AdminServer;
let plain: Caller;
let limited: Caller;
let other: Caller;
beforeAll(async () => {
  server = await AdminServer.start();
  plain = await server.createCaller();
  other = await server.createCaller({ scopes: ['inference', 'admin'] });
  limited = await server.createCaller({
    budget: { amountPicoUsd: 2n * USD, reset: 'day' },
    limits: { requestsPerMinute: 10, tokensPerMinute: 1000, concurrentRequests: 4 },
  });
  await server.bill(plain.key, { id: 'p1', acceptedAtMs: NOON_MS - 2 * DAY_MS });
  await server.bill(plain.key, { id: 'p2', acceptedAtMs: NOON_MS - 1, modelId: 'other' });
  await server.bill(other.key, { id: 'o1', acceptedAtMs: NOON_MS - 5, costPicoUsd: 7n * USD });
  await server.bill(limited.key, { id: 'l1', acceptedAtMs: NOON_MS - DAY_MS, costPicoUsd: USD });
  await server.bill(limited.key, { id: 'l2', acceptedAtMs: NOON_MS - 1000, costPicoUsd: USD / 2n });
});
afterAll(() => server.close());

const usage = async (caller: Caller, query = '') => await server.get(`/ai/v1/usage${query}`, caller);

describe('the usage of a key', () => {
  it('is its own sum of this month', async () => {
    const { status, json } = await usage(plain);
    const totals = {
      requests: 2,
      ...{ input_tokens: 200, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
      ...{ cost_usd: '0.00000756', cost_pico_usd: '7560000' },
    };
    expect(status).toBe(200);
    expect(json).toEqual({
      object: 'usage',
      key: plain.key.id,
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-11-21T12:00:00.000Z',
      data: [totals],
      totals,
      next_cursor: null,
      budget: null,
      limits: { requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null },
    });
  });

  it('groups by model and day, in pages', async () => {
    const { json } = await usage(plain, '?group_by=model,day');
    expect(json.data.map(({ model, start }: { model: string; start: string }) => [model, start])).toEqual([
      ['kev', '2026-11-19T00:00:00.000Z'],
      ['other', '2026-11-21T00:00:00.000Z'],
    ]);
    const first = (await usage(plain, '?group_by=model,day&limit=1')).json;
    const second = (await usage(plain, `?group_by=model,day&limit=1&cursor=${first.next_cursor}`)).json;
    expect([...first.data, ...second.data]).toEqual(json.data);
    expect([first.totals, second.next_cursor]).toEqual([json.totals, null]);
  });

  it('tells where it stands with its budget and its limits', async () => {
    const { json } = await usage(limited);
    expect(ownUsageSchema.safeParse(json).error).toBeUndefined();
    expect(json.totals.cost_usd).toBe('1.5');
    expect(json.budget).toEqual({
      amount_usd: '2',
      reset: 'day',
      spent_usd: '0.5',
      reserved_usd: '0',
      remaining_usd: '1.5',
      resets_at: '2026-11-22T00:00:00.000Z',
    });
    expect(json.limits).toEqual({
      requests_per_minute: { limit: 10, remaining: 9, reset_ms: expect.any(Number) },
      tokens_per_minute: { limit: 1000, remaining: 900, reset_ms: expect.any(Number) },
      concurrent_requests: { limit: 4, remaining: 4 },
    });
  });

  it('is nothing at all for a new key', async () => {
    const fresh = await server.createCaller({ budget: { amountPicoUsd: USD, reset: 'none' } });
    const { json } = await usage(fresh, '?group_by=model');
    expect(json).toMatchObject({ data: [], totals: { requests: 0, cost_usd: '0', cost_pico_usd: '0' } });
    expect(json.budget).toMatchObject({ spent_usd: '0', remaining_usd: '1', resets_at: null });
  });
});

describe("another key's usage", () => {
  it.each([
    '?key=OTHER',
    '?group_by=key',
    '?group_by=model,key',
    '?keyId=OTHER',
    '?__proto__=OTHER',
    '?key[]=OTHER',
    "?model=x'%20OR%20key_id='OTHER",
    '?endpoint=%27%20OR%201=1%20--',
    '?cursor=OTHER',
  ])('is not to be had by %s', async (query) => {
    const { text, status, json } = await usage(plain, query.replace('OTHER', other.key.id));
    expect(text).not.toContain(other.key.id);
    expect(text).not.toContain('"7');
    if (status === 200) expect(json.totals.requests).toBe(0);
    else expect([status, json.error.code]).toEqual([400, 'invalid_request']);
  });

  it('is not told even to an administrator here', async () => {
    expect((await usage(other)).json).toMatchObject({ key: other.key.id, totals: { requests: 1, cost_usd: '7' } });
  });
});

describe('a wrong question', () => {
  it.each([
    ['from=now', 'from'],
    ['to=2026-10-01&from=2026-11-01', 'from'],
    ['group_by=', null],
    ['limit=1e3', 'limit'],
    ['limit=%20', 'limit'],
    ['cursor=1.5', 'cursor'],
    ['format=csv', null],
  ])('is refused: ?%s', async (query, param) => {
    const { status, json } = await usage(plain, `?${query}`);
    if (query === 'group_by=') expect(status).toBe(200);
    else expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
  });
});
