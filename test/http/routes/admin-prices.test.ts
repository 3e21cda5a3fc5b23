// /admin/v1/prices: prices in force, set and to come, over a real store.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminServer, type Caller } from '../../application/admin-server.ts';

let server: AdminServer;
let admin: Caller;
let user: Caller;
beforeAll(async () => {
  server = await AdminServer.start();
  admin = await server.createCaller({ scopes: ['admin'] });
  user = await server.createCaller();
});
afterAll(() => server.close());

const set = async (body: object | undefined) => await server.post('/admin/v1/prices', admin, body);
const iso = (ms: number) => new Date(ms).toISOString();
const shownPrice = async (id: string) => (await server.get(`/ai/v1/models/${id}`, user)).json.price;
const inForce = async (id: string) =>
  (await server.get('/admin/v1/prices', admin)).json.data.find(({ model }: { model: string }) => model === id);

describe('the prices in force', () => {
  it("are the models' own at first", async () => {
    const { status, json } = await server.get('/admin/v1/prices', admin);
    expect([status, json.object]).toEqual([200, 'list']);
    expect(json.data).toEqual([
      {
        ...{ model: 'kev', type: 'decision', source: 'own', effective_from: null },
        ...{ input_usd: '0.0378', cached_input_usd: '0.0378', output_usd: '0' },
      },
      expect.objectContaining({ model: 'text-embed-mini', input_usd: '0' }),
      expect.objectContaining({ model: 'reranker', type: 'reranker', input_usd: '0.02' }),
      expect.objectContaining({ model: 'llama', input_usd: '1', output_usd: '2' }),
    ]);
  });

  it('change when a price is set, at once and everywhere they are shown', async () => {
    const { status, json } = await set({ model: 'kev', input_usd: '0.05', output_usd: '0.000001' });
    expect(status).toBe(201);
    expect(json).toEqual({
      object: 'price',
      model: 'kev',
      input_usd: '0.05',
      cached_input_usd: '0.05',
      output_usd: '0.000001',
      effective_from: iso(server.clock.nowMs),
      created_at: iso(server.clock.nowMs),
      created_by: admin.key.id,
      model_is_served: true,
    });
    expect(await inForce('kev')).toMatchObject({
      input_usd: '0.05',
      source: 'set',
      effective_from: json.effective_from,
    });
    expect(await shownPrice('kev')).toEqual({ input: 0.05, output: 0.000001 });
  });

  it('change later when a price is set for later', async () => {
    const startsAtMs = server.clock.nowMs + 60_000;
    const { json } = await set({
      ...{ model: 'llama', input_usd: '3.00', cached_input_usd: '0.3', output_usd: '1000' },
      effective_from: iso(startsAtMs),
    });
    expect(json).toMatchObject({ input_usd: '3', cached_input_usd: '0.3', output_usd: '1000' });
    expect(await inForce('llama')).toMatchObject({ input_usd: '1', source: 'own' });
    server.clock.nowMs = startsAtMs;
    expect(await inForce('llama')).toMatchObject({ input_usd: '3', source: 'set' });
    expect(await shownPrice('llama')).toEqual({ input: 3, output: 1000 });
  });

  it('may be set for a model that comes later, which is said', async () => {
    const { status, json } = await set({ model: 'not yet', input_usd: '1', output_usd: '1' });
    expect([status, json.model_is_served]).toEqual([201, false]);
    expect(await inForce('not yet')).toBeUndefined();
  });
});

describe('the history', () => {
  it('keeps every price, by model, the latest first, page by page', async () => {
    server.clock.nowMs += 1000;
    await set({ model: 'text-embed-mini', input_usd: '1', output_usd: '0' });
    await set({ model: 'text-embed-mini', input_usd: '2', output_usd: '0', effective_from: '2030-01-01' });
    const path = '/admin/v1/prices/history?model=text-embed-mini';
    const { json } = await server.get(path, admin);
    expect(json.data).toMatchObject([
      { input_usd: '2', effective_from: '2030-01-01T00:00:00.000Z' },
      { input_usd: '1', effective_from: iso(server.clock.nowMs), created_by: admin.key.id },
    ]);
    const first = (await server.get(`${path}&limit=1`, admin)).json;
    const second = (await server.get(`${path}&limit=1&cursor=${first.next_cursor}`, admin)).json;
    expect([...first.data, ...second.data]).toEqual(json.data);
    expect(second.next_cursor).toBeNull();
    const all = (await server.get('/admin/v1/prices/history', admin)).json.data;
    expect(all.length).toBeGreaterThan(json.data.length);
  });

  it('takes no second price for one moment', async () => {
    const price = { model: 'kev', input_usd: '9', output_usd: '0', effective_from: '2031-01-01T00:00:00Z' };
    expect((await set(price)).status).toBe(201);
    const { status, json } = await set({ ...price, effective_from: '2031-01-01' });
    expect([status, json.error.code]).toEqual([409, 'conflict']);
  });
});

describe('a refused price', () => {
  const good = { model: 'kev', input_usd: '1', output_usd: '1' };

  it.each([
    ['no body', undefined, null],
    ['no model', { ...good, model: undefined }, 'model'],
    ['an empty model', { ...good, model: '' }, 'model'],
    ['a control character', { ...good, model: 'a\u0000' }, 'model'],
    ['no price of input', { ...good, input_usd: undefined }, 'input_usd'],
    ['a price as number', { ...good, input_usd: 0.0378 }, 'input_usd'],
    ['a negative price', { ...good, output_usd: '-1' }, 'output_usd'],
    ['a price below a micro-dollar', { ...good, output_usd: '0.0000001' }, 'output_usd'],
    ['too high a price', { ...good, cached_input_usd: '1000.000001' }, 'cached_input_usd'],
    ['the past', { ...good, effective_from: '2026-11-21T11:59:59.999Z' }, 'effective_from'],
    ['a day of no calendar', { ...good, effective_from: '2026-11-31' }, 'effective_from'],
    ['an unknown field', { ...good, currency: 'EUR' }, null],
  ])('is a 400: %s', async (_what, body, param) => {
    const { status, json } = await set(body);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
  });

  it.each(['?model=a&model=b', '?limit=0', '?cursor=x', '?from=2026-01-01'])(
    'is a 400 for history%s',
    async (query) => {
      expect((await server.get(`/admin/v1/prices/history${query}`, admin)).status).toBe(400);
    },
  );

  it('is a 400 for a query where there is none', async () => {
    expect((await server.get('/admin/v1/prices?model=kev', admin)).status).toBe(400);
  });
});
