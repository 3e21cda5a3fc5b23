// Two servers over one store: what an administrator does at one counts at the other.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyService } from '../../src/services/keys/keys.ts';
import { PriceService } from '../../src/services/prices.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { AdminServer, type Caller } from './admin-server.ts';
import { KEV } from './fake-engine.ts';

let server: AdminServer;
let admin: Caller;
let elsewhere: { stores: Stores; keys: ApiKeyService; prices: PriceService };
const nowMs = () => server.clock.nowMs;
beforeAll(async () => {
  server = await AdminServer.start();
  admin = await server.createCaller({ scopes: ['admin'] });
  const stores = await server.openAgain();
  elsewhere = {
    stores,
    keys: new ApiKeyService({ store: stores.keys, nowMs }),
    prices: new PriceService({ store: stores.prices, nowMs }),
  };
});
afterAll(async () => {
  await elsewhere.stores.close();
  await server.close();
});

describe('another server', () => {
  it.each([
    ['a revocation', async (path: string) => server.post(`${path}/revoke`, admin)],
    ['a disabled key', async (path: string) => server.patch(path, admin, { disabled: true })],
    [
      'a rotation without overlap',
      async (path: string) => server.post(`${path}/rotate`, admin, { overlap_seconds: 0 }),
    ],
  ])('knows of %s within a second', async (_what, change) => {
    const { key, secret } = await server.createCaller();
    await elsewhere.keys.authenticate(secret);
    expect((await change(`/admin/v1/keys/${key.id}`)).status).toBe(200);
    server.clock.nowMs += 1000;
    await expect(elsewhere.keys.authenticate(secret)).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  it('lets a new key in at once, and gives a changed one its new rights within a second', async () => {
    const { json } = await server.post('/admin/v1/keys', admin, { name: 'a' });
    expect(await elsewhere.keys.authenticate(json.key)).toMatchObject({ id: json.id, models: null });
    await server.patch(`/admin/v1/keys/${json.id}`, admin, { models: ['kev'], limits: { requests_per_minute: 3 } });
    server.clock.nowMs += 1000;
    const seen = await elsewhere.keys.authenticate(json.key);
    expect(seen).toMatchObject({ models: ['kev'], limits: { requestsPerMinute: 3 } });
  });

  it('has a new price after its next reading, and one for later at the same moment as all', async () => {
    await server.post('/admin/v1/prices', admin, { model: 'kev', input_usd: '5', output_usd: '0' });
    const effective_from = new Date(nowMs() + 5000).toISOString();
    await server.post('/admin/v1/prices', admin, { model: 'kev', input_usd: '6', output_usd: '0', effective_from });
    await elsewhere.prices.refresh();
    expect(elsewhere.prices.priced(KEV).price.inputMicroUsd).toBe(5_000_000);
    server.clock.nowMs += 5000;
    expect(elsewhere.prices.priced(KEV).price.inputMicroUsd).toBe(6_000_000);
  });

  it('cannot set a second price for the same moment', async () => {
    const effectiveFromMs = nowMs() + 60_000;
    const price = { inputMicroUsd: 1, cachedInputMicroUsd: 1, outputMicroUsd: 1 };
    const ended = await Promise.allSettled([
      server.administration.prices.set({ modelId: 'kev', price, effectiveFromMs }, 'key_1'),
      elsewhere.prices.set({ modelId: 'kev', price, effectiveFromMs }, 'key_2'),
    ]);
    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});
