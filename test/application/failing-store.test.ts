// A store that fails at each point of a request's way: nothing is served unbilled unless the configuration says so,
// nothing stays reserved, and it works again by itself.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { StoreUnavailableError } from '../../src/domain/errors.ts';
import { type Caller, DECISION_PICO_USD, MeteredServer } from './metered-server.ts';
import { startServerOf } from './test-server.ts';

let server: MeteredServer;
let caller: Caller;
const budget = { amountPicoUsd: 10n * DECISION_PICO_USD, reset: 'none' as const };

afterEach(() => server.repair());
afterAll(() => server.close());

describe('a store that must not fail', () => {
  beforeAll(async () => {
    server = await MeteredServer.start();
    caller = await server.createCaller({ budget });
  });

  it('refuses requests before they run, and takes them again as soon as it can', async () => {
    let runs = 0;
    const { decide } = server.engine;
    server.engine.decide = async (...asked) => {
      runs += 1;
      return await decide(...asked);
    };
    server.ledger.down = 'all';
    const refused = await server.decide(caller);
    expect(refused.status).toBe(503);
    expect(refused.json.error).toEqual({
      message: 'Keys, budgets and the ledger cannot be reached at the moment.',
      type: 'server_error',
      param: null,
      code: 'store_unavailable',
    });
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'retry-after-ms': '1000' });
    expect(runs).toBe(0);
    server.ledger.down = 'none';
    expect((await server.decide(caller)).status).toBe(200);
    expect(await server.metricsText()).toContain('umpire_http_errors_total{code="store_unavailable"} 1');
  });

  it('refuses a reply that it cannot bill, and bills nothing for it later', async () => {
    const before = await server.standing(caller);
    server.ledger.down = 'settle';
    const refused = await server.settled(server.decide(caller));
    expect([refused.status, refused.json.error.code]).toEqual([503, 'store_unavailable']);
    expect(refused.headers['x-umpire-cost-usd']).toBeUndefined();
    expect(await server.standing(caller)).toMatchObject({ reservedPicoUsd: DECISION_PICO_USD });
    server.ledger.down = 'none';
    await server.until(async () => (await server.standing(caller)).reservedPicoUsd === 0n);
    expect((await server.standing(caller)).spentPicoUsd).toBe(before.spentPicoUsd);
    expect((await server.rows(caller)).at(-1)).toMatchObject({
      end: 'failed',
      status: 503,
      errorCode: 'store_unavailable',
      costPicoUsd: 0n,
    });
  });

  it('bills a reply late rather than not, if it comes back in time', async () => {
    server.ledger.down = 'settle';
    let settles = 0;
    server.ledger.onCall = () => {
      settles += 1;
      if (settles > 4) server.ledger.down = 'none';
    };
    const reply = await server.settled(server.decide(caller));
    expect([reply.status, reply.headers['x-umpire-cost-usd']]).toEqual([200, '0.000000189']);
    expect((await server.rows(caller)).at(-1)).toMatchObject({ end: 'completed', costPicoUsd: DECISION_PICO_USD });
  });

  it('does not lose the end of a request that failed meanwhile', async () => {
    server.engine.decide = async () => {
      server.ledger.down = 'all';
      throw new Error('a fault of ours');
    };
    const rows = (await server.rows(caller)).length;
    expect((await server.decide(caller)).status).toBe(500);
    server.ledger.down = 'none';
    await server.until(async () => (await server.rows(caller)).length > rows);
    expect(await server.standing(caller)).toMatchObject({ reservedPicoUsd: 0n });
  });

  it('gives no reply for which its books have no place any more', async () => {
    const { decide } = server.engine;
    server.engine.decide = async (...asked) => {
      // Another server took this one for dead.
      await server.ledger.recover(Number.MAX_SAFE_INTEGER, server.clock.nowMs());
      return await decide(...asked);
    };
    const reply = await server.decide(caller);
    expect([reply.status, reply.json.error.code]).toEqual([503, 'store_unavailable']);
    expect((await server.rows(caller)).at(-1)).toMatchObject({ end: 'crashed', costPicoUsd: 0n });
  });
});

describe('a store that may fail', () => {
  beforeAll(async () => {
    await server.close();
    server = await MeteredServer.start({ whenStoreFails: 'serve' });
    caller = await server.createCaller({ budget });
    // From now on the key is known.
    await server.decide(caller);
  });

  it('is done without: served, counted, not billed', async () => {
    server.ledger.down = 'all';
    const reply = await server.decide(caller);
    expect([reply.status, reply.headers['x-umpire-cost-usd']]).toEqual([200, '0.000000189']);
    expect(reply.headers['x-umpire-budget-remaining-usd']).toBeUndefined();
    expect(server.unbilled).toBe(1);
    server.ledger.down = 'none';
    expect((await server.decide(caller)).headers['x-umpire-budget-remaining-usd']).toBeDefined();
    expect(await server.rows(caller)).toHaveLength(2);
    expect(server.unbilled).toBe(1);
  });

  it('is told later what it was asked to let in', async () => {
    const rows = (await server.rows(caller)).length;
    server.ledger.down = 'settle';
    expect((await server.decide(caller)).status).toBe(200);
    server.ledger.down = 'none';
    await server.until(async () => (await server.rows(caller)).length > rows);
    expect((await server.rows(caller)).at(-1)).toMatchObject({ end: 'completed', costPicoUsd: DECISION_PICO_USD });
    expect(server.unbilled).toBe(1);
  });
});

it('a key that cannot be looked up is no wrong key', async () => {
  const authenticate = async (): Promise<never> => {
    throw new StoreUnavailableError('connection refused to 10.0.0.7');
  };
  const { app, get } = await startServerOf({ authenticator: { authenticate } });
  const reply = await get('/ai/v1/models');
  expect([reply.status, reply.json.error.code, reply.headers['retry-after-ms']]).toEqual([
    503,
    'store_unavailable',
    '1000',
  ]);
  expect(reply.headers['www-authenticate']).toBeUndefined();
  expect(reply.text).not.toContain('10.0.0.7');
  await app.close();
});
