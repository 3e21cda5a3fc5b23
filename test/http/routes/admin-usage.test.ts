// /admin/v1/usage and /admin/v1/requests: sums and rows over a real ledger, in JSON and as CSV.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminServer, type Caller, NOON_MS } from '../../application/admin-server.ts';

const HOUR_MS = 3_600_000;
const LLAMA = { modelId: 'llama', endpoint: '/ai/v1/chat/completions', isStreamed: true };

let server: AdminServer;
let admin: Caller;
let one: Caller;
let two: Caller;
beforeAll(async () => {
  server = await AdminServer.start();
  admin = await server.createCaller({ scopes: ['admin'] });
  one = await server.createCaller();
  two = await server.createCaller();
  await server.bill(one.key, { id: 'r1', acceptedAtMs: NOON_MS - 30 * HOUR_MS });
  await server.bill(one.key, { id: 'r2', acceptedAtMs: NOON_MS - HOUR_MS, requestId: '=HYPERLINK("http://x")' });
  await server.bill(two.key, {
    ...LLAMA,
    id: 'r3',
    acceptedAtMs: NOON_MS - HOUR_MS,
    end: 'client_left',
    usage: { inputTokens: 7, cachedTokens: 2, outputTokens: 11, reasoningTokens: 5 },
    costPicoUsd: 123_456_789_012_345n,
    isEstimated: true,
    upstream: 'vendor',
    upstreamFailures: 'own:timeout',
  });
  await server.bill(two.key, {
    ...LLAMA,
    id: 'r4',
    acceptedAtMs: NOON_MS - 1,
    end: 'upstream_failed',
    status: 502,
    errorCode: 'upstream_error',
    usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    costPicoUsd: 0n,
    waitMs: null,
  });
  await server.bill(one.key, { id: 'r0', acceptedAtMs: Date.UTC(2026, 9, 31, 23, 59) });
});
afterAll(() => server.close());

const report = async (query: string) => (await server.get(`/admin/v1/usage${query}`, admin)).json;

describe('a usage report', () => {
  it('is the sum of this month unless something else is asked', async () => {
    const totals = {
      requests: 4,
      input_tokens: 207,
      cached_tokens: 2,
      output_tokens: 11,
      reasoning_tokens: 5,
      cost_usd: '123.456796572345',
      cost_pico_usd: '123456796572345',
    };
    expect(await report('')).toEqual({
      object: 'usage_report',
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-11-21T12:00:00.000Z',
      data: [totals],
      totals,
      next_cursor: null,
    });
  });

  it('takes a range, from included and to not', async () => {
    expect((await report('?from=2026-10-31')).totals.requests).toBe(5);
    expect((await report('?from=2026-10-31&to=2026-11-01')).totals.requests).toBe(1);
    const at = new Date(NOON_MS - 1).toISOString();
    expect((await report(`?to=${at}`)).totals.requests).toBe(3);
    expect((await report(`?from=${at}`)).totals.requests).toBe(1);
    expect((await report('?to=2026-11-01')).from).toBe('2026-10-01T00:00:00.000Z');
    expect((await report('?from=2026-11-21T12:00:00%2B01:00')).from).toBe('2026-11-21T11:00:00.000Z');
  });

  it('groups by key, model, endpoint, end, day and hour', async () => {
    const pairs = async (by: string, name: string) => {
      const { data } = await report(`?group_by=${by}`);
      return data.map((group: Record<string, unknown>) => [group[name], group['requests']]);
    };
    expect(Object.fromEntries(await pairs('key', 'key'))).toEqual({ [one.key.id]: 2, [two.key.id]: 2 });
    expect(await pairs('model', 'model')).toEqual([
      ['kev', 2],
      ['llama', 2],
    ]);
    expect(await pairs('endpoint', 'endpoint')).toEqual([
      ['/ai/v1/chat/completions', 2],
      ['/ai/v1/systemone', 2],
    ]);
    expect(Object.fromEntries(await pairs('end', 'end'))).toEqual({ completed: 2, client_left: 1, upstream_failed: 1 });
    expect(await pairs('day', 'start')).toEqual([
      ['2026-11-20T00:00:00.000Z', 1],
      ['2026-11-21T00:00:00.000Z', 3],
    ]);
    expect(await pairs('hour', 'start')).toEqual([
      ['2026-11-20T06:00:00.000Z', 1],
      ['2026-11-21T11:00:00.000Z', 3],
    ]);
    const { data } = await report('?group_by=day,model');
    expect(data[0]).toMatchObject({ model: 'kev', start: '2026-11-20T00:00:00.000Z', cost_usd: '0.00000378' });
  });

  it('is of one key, model or endpoint where it is asked', async () => {
    expect((await report(`?key=${one.key.id}`)).totals.requests).toBe(2);
    expect((await report('?model=llama')).totals.cost_pico_usd).toBe('123456789012345');
    expect((await report('?endpoint=/ai/v1/systemone')).totals.requests).toBe(2);
    expect(await report('?model=nothing&group_by=model')).toMatchObject({
      data: [],
      totals: { requests: 0, cost_usd: '0' },
    });
  });

  it('comes in pages', async () => {
    const all = (await report('?group_by=key,model,hour')).data;
    const pages = [];
    for (let cursor: string | null = '0'; cursor !== null; ) {
      const page = await report(`?group_by=key,model,hour&limit=2&cursor=${cursor}`);
      pages.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(all).toHaveLength(3);
    expect(pages).toEqual(all);
  });

  it.each([
    ['from=yesterday', 'from'],
    ['from=2026-11-21T12:00:00', 'from'],
    ['from=2026-11-31', 'from'],
    ['from=2026-11-21&to=2026-11-21', 'from'],
    ['to=1', 'to'],
    ['to=2026-01-01&to=2026-02-01', 'to'],
    ['group_by=colour', 'group_by'],
    ['group_by=model,model', 'group_by'],
    ['group_by=day,hour', 'group_by'],
    ['group_by=model;DROP%20TABLE%20ledger', 'group_by'],
    ['limit=1001', 'limit'],
    ['cursor=-1', 'cursor'],
    ['cursor=99999999999999999', 'cursor'],
    ['format=xml', 'format'],
    [`model=${'x'.repeat(257)}`, 'model'],
    ['model=%00', 'model'],
    ['key=key_1%0d%0a', 'key'],
    ['endpoint=%1b', 'endpoint'],
    ['format=csv&cursor=1', 'cursor'],
    ['colour=red', null],
  ])('is refused with 400: ?%s', async (query, param) => {
    const { status, json } = await server.get(`/admin/v1/usage?${query}`, admin);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
  });
});

describe('a usage report as CSV', () => {
  it('has a line for each group', async () => {
    const { status, headers, text } = await server.get('/admin/v1/usage?group_by=model,day&format=csv', admin);
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers['content-disposition']).toBe('attachment; filename="usage.csv"');
    expect(text.split('\r\n')).toEqual([
      'model,start,requests,input_tokens,cached_tokens,output_tokens,reasoning_tokens,cost_usd,cost_pico_usd',
      'kev,2026-11-20T00:00:00.000Z,1,100,0,0,0,0.00000378,3780000',
      'kev,2026-11-21T00:00:00.000Z,1,100,0,0,0,0.00000378,3780000',
      'llama,2026-11-21T00:00:00.000Z,2,7,2,11,5,123.456789012345,123456789012345',
      '',
    ]);
  });

  it.each([
    ['text/csv', '', 'text/csv'],
    ['text/csv;q=0.9, */*;q=0.1', '', 'text/csv'],
    ['text/csv', '?format=json', 'application/json'],
    ['*/*', '', 'application/json'],
    ['application/json', '?format=csv', 'text/csv'],
  ])('answers Accept: %s %s with %s', async (accept, query, type) => {
    const { headers } = await server.get(`/admin/v1/usage${query}`, admin, { accept });
    expect(headers['content-type']).toContain(type);
  });
});

describe('the requests', () => {
  it('are the rows of the ledger, newest first', async () => {
    const { json } = await server.get('/admin/v1/requests', admin);
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(['r4', 'r3', 'r2', 'r1']);
    expect(json.data[1]).toEqual({
      id: 'r3',
      request_id: 'req_1',
      key: two.key.id,
      model: 'llama',
      endpoint: '/ai/v1/chat/completions',
      streamed: true,
      accepted_at: '2026-11-21T11:00:00.000Z',
      end: 'client_left',
      status: 200,
      error_code: null,
      input_tokens: 7,
      cached_tokens: 2,
      output_tokens: 11,
      reasoning_tokens: 5,
      estimated: true,
      input_price_usd: '0.0378',
      cached_input_price_usd: '0.0378',
      output_price_usd: '0',
      cost_usd: '123.456789012345',
      cost_pico_usd: '123456789012345',
      duration_ms: 12,
      wait_ms: 3,
      upstream: 'vendor',
      upstream_failures: 'own:timeout',
    });
    expect(json.data[0]).toMatchObject({
      end: 'upstream_failed',
      status: 502,
      error_code: 'upstream_error',
      wait_ms: null,
      upstream: null,
      upstream_failures: null,
    });
  });

  it('come in pages that new rows do not shift', async () => {
    const query = `?key=${one.key.id}&from=2026-10-01&limit=1`;
    const first = (await server.get(`/admin/v1/requests${query}`, admin)).json;
    await server.bill(one.key, { id: 'r9', acceptedAtMs: NOON_MS - 2 });
    const second = (await server.get(`/admin/v1/requests${query}&cursor=${first.next_cursor}`, admin)).json;
    const third = (await server.get(`/admin/v1/requests${query}&cursor=${second.next_cursor}`, admin)).json;
    const ids = [first, second, third].map(({ data }) => data.map(({ id }: { id: string }) => id));
    expect(ids).toEqual([['r2'], ['r1'], ['r0']]);
    expect(third.next_cursor).toBeNull();
  });

  it('as CSV are guarded against spreadsheets', async () => {
    const { text } = await server.get(`/admin/v1/requests?key=${one.key.id}&to=2026-11-21T11:30:00Z&format=csv`, admin);
    const lines = text.split('\r\n');
    expect(lines[0]).toMatch(/^id,request_id,key,model,endpoint,streamed,accepted_at,end,status/);
    expect(lines[1]).toMatch(/^r2,"'=HYPERLINK\(""http:\/\/x""\)",key_/);
    expect(lines[2]).toMatch(/^r1,req_1,key_/);
    expect(lines).toHaveLength(4);
  });

  it('as CSV are whole, however many pages they are', async () => {
    const many = await server.createCaller();
    const count = 1203;
    const bills = Array.from({ length: count }, (_, i) =>
      server.bill(many.key, { id: `m${i}`, acceptedAtMs: NOON_MS - 1000 - i }),
    );
    await Promise.all(bills);
    const { text } = await server.get(`/admin/v1/requests?key=${many.key.id}&format=csv`, admin);
    const ids = text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[0]);
    expect(ids).toEqual(Array.from({ length: count }, (_, i) => `m${i}`));
  });

  it.each([
    ['cursor=1', 'cursor'],
    ["cursor=1.'--", 'cursor'],
    ['cursor=x.y', 'cursor'],
    ['group_by=model', null],
    ['limit=-1', 'limit'],
  ])('are refused with 400: ?%s', async (query, param) => {
    const { status, json } = await server.get(`/admin/v1/requests?${query}`, admin);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
  });
});
