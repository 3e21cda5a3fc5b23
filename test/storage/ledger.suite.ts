// What every ledger must do: one row per accepted request, budgets and limits that hold, and sums that are those of the
// rows whatever happens in between.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyStanding } from '../../src/domain/account.ts';
import { type Budget, NO_LIMITS } from '../../src/domain/api-key.ts';
import type { Stores } from '../../src/storage/stores.ts';
import {
  COST,
  DAY_MS,
  FREE,
  HOSTILE,
  NOW_MS,
  type OpenedStores,
  openForEachCase,
  outcome,
  reservation,
  rowOf,
  rowsOf,
  settlement,
  typesOf,
} from './ledger-fixture.ts';

const MONTHLY: Budget = { amountPicoUsd: 100n * COST, reset: 'month' };

export function describeLedger(name: string, open: () => Promise<OpenedStores>): void {
  let opened: OpenedStores;
  let stores: Stores;

  openForEachCase(open, (fresh) => {
    opened = fresh;
    stores = fresh.stores;
  });

  const standing = (budget: Budget | null = MONTHLY, nowMs = NOW_MS): Promise<KeyStanding> =>
    stores.ledger.standing({ id: 'key_1', budget, limits: NO_LIMITS }, nowMs);
  const run = async (id: string, acceptedAtMs: number, budget: Budget | null = MONTHLY): Promise<void> => {
    const demand = { ...FREE, costPicoUsd: COST, budget };
    expect(await stores.ledger.reserve(reservation(id, { acceptedAtMs, demand }))).toMatchObject({ type: 'reserved' });
    expect(await stores.ledger.settle(settlement(id))).toMatchObject({ type: 'settled' });
  };

  describe(`the ledger on ${name}`, () => {
    it('has one row of a request, as it was accepted and as it ended, once it is settled', async () => {
      const wanted = reservation('req_1', { isStreamed: true, demand: { ...FREE, costPicoUsd: 2n * COST } });
      expect(await stores.ledger.reserve(wanted)).toEqual({
        type: 'reserved',
        standing: { budget: null, requests: null, tokens: null, concurrent: null },
      });
      expect(await rowsOf(stores)).toEqual([]);
      expect(await standing(null)).toMatchObject({ spentPicoUsd: 0n, reservedPicoUsd: 2n * COST });
      const ended = outcome({ end: 'upstream_failed', status: 502, errorCode: 'upstream_error', isEstimated: true });
      expect(await stores.ledger.settle({ id: 'req_1', outcome: ended })).toMatchObject({ type: 'settled' });
      expect(await rowsOf(stores)).toEqual([rowOf(wanted, ended)]);
      expect(await standing(null)).toMatchObject({ spentPicoUsd: COST, reservedPicoUsd: 0n });
    });

    it('keeps whole milliseconds, and none where there was no waiting', async () => {
      await stores.ledger.reserve(reservation('req_1'));
      await stores.ledger.settle(settlement('req_1', { durationMs: 1.6, waitMs: null }));
      expect(await rowsOf(stores)).toMatchObject([{ durationMs: 2, waitMs: null }]);
    });

    it('has one row however often it is settled', async () => {
      await stores.ledger.reserve(reservation('req_1'));
      const settled = await Promise.all([1, 2, 3].map(() => stores.ledger.settle(settlement('req_1'))));
      expect(settled.map(({ type }) => type)).toEqual(['settled', 'settled', 'settled']);
      expect((await stores.ledger.settle(settlement('req_1', { costPicoUsd: 9n }))).type).toBe('settled');
      expect(await rowsOf(stores)).toHaveLength(1);
      expect((await standing()).spentPicoUsd).toBe(COST);
    });

    it('takes the begin and the end of a request in one transaction, and bills nothing of what it refuses', async () => {
      const patiently = (id: string, budget: Budget | null) => {
        const demand = { ...FREE, costPicoUsd: COST, budget };
        const reserved = stores.ledger.reserve(reservation(id, { demand }), 60_000);
        return Promise.all([reserved, stores.ledger.settle(settlement(id))]);
      };
      expect(await patiently('req_1', MONTHLY)).toMatchObject([{ type: 'reserved' }, { type: 'settled' }]);
      const small: Budget = { amountPicoUsd: COST, reset: 'month' };
      expect(await patiently('req_2', small)).toMatchObject([
        { type: 'refused', reason: 'budget' },
        { type: 'missing' },
      ]);
      expect(await rowsOf(stores)).toMatchObject([{ id: 'req_1', end: 'completed', costPicoUsd: COST }]);
      expect(await standing()).toMatchObject({ spentPicoUsd: COST, reservedPicoUsd: 0n });
    });

    it('does not settle what was never reserved, or given back', async () => {
      expect(await stores.ledger.settle(settlement('req_none'))).toEqual({ type: 'missing' });
      await stores.ledger.reserve(reservation('req_1'));
      await stores.ledger.release('req_1');
      await stores.ledger.release('req_1');
      expect(await stores.ledger.settle(settlement('req_1'))).toEqual({ type: 'missing' });
      expect(await rowsOf(stores)).toEqual([]);
    });

    it('gives back everything of a request that is released', async () => {
      const limits = { requestsPerMinute: 1, tokensPerMinute: 10, concurrentRequests: 1 };
      const demand = { costPicoUsd: 100n * COST, tokens: 10, budget: MONTHLY, limits };
      for (const id of ['req_1', 'req_2', 'req_3']) {
        expect((await stores.ledger.reserve(reservation(id, { demand }))).type).toBe('reserved');
        expect((await stores.ledger.reserve(reservation('req_x', { demand }))).type).toBe('refused');
        await stores.ledger.release(id);
      }
      expect(await standing()).toMatchObject({ spentPicoUsd: 0n, reservedPicoUsd: 0n });
    });

    it('tells the last use of a key', async () => {
      const { keys } = stores;
      const audit = { atMs: 1, actor: 'server', action: 'key.create', target: 'key_1', details: {} };
      const secret = { hash: 'ab'.repeat(32), visiblePrefix: 'ump_1234', createdAtMs: 1, expiresAtMs: null };
      const key = { id: 'key_1', name: 'n', visiblePrefix: 'ump_1234', models: null, scopes: [], budget: null };
      const times = { createdAtMs: 1, expiresAtMs: null, disabledAtMs: null, revokedAtMs: null, lastUsedAtMs: null };
      await keys.insert({ ...key, ...times, limits: NO_LIMITS, createdBy: 'server' }, secret, audit);
      await run('req_1', NOW_MS);
      await run('req_2', NOW_MS - 5);
      expect((await keys.findById('key_1'))?.lastUsedAtMs).toBe(NOW_MS);
      expect((await keys.findByHash(secret.hash))?.key.lastUsedAtMs).toBe(NOW_MS);
      expect((await keys.list())[0]?.lastUsedAtMs).toBe(NOW_MS);
    });

    it('takes any text in any field', async () => {
      const wanted = reservation(HOSTILE, {
        requestId: HOSTILE,
        keyId: HOSTILE,
        modelId: HOSTILE,
        endpoint: HOSTILE,
        instanceId: HOSTILE,
        idempotency: { keyHash: HOSTILE, fingerprint: HOSTILE, expiresAtMs: NOW_MS + 1 },
      });
      await stores.ledger.beat(HOSTILE, NOW_MS);
      expect((await stores.ledger.reserve(wanted)).type).toBe('reserved');
      const reply = { contentType: HOSTILE, body: `${HOSTILE}\0\ud800`, headers: { [HOSTILE]: HOSTILE } };
      const ended = outcome({ errorCode: HOSTILE });
      expect((await stores.ledger.settle({ id: HOSTILE, outcome: ended, reply })).type).toBe('settled');
      expect(await rowsOf(stores)).toEqual([rowOf(wanted, ended)]);
      expect(await stores.ledger.reserve({ ...wanted, id: 'req_2' })).toEqual({ type: 'replay', reply });
      await stores.ledger.leave(HOSTILE);
      expect(await stores.keys.count()).toBe(0);
    });

    it('is exact beyond what a number, and beyond what 64 bits hold', async () => {
      const most = 2_000_000_000_000_000_000n;
      const budget = { amountPicoUsd: 12n * most + 1n, reset: 'none' } as const;
      const demand = { ...FREE, costPicoUsd: most, budget };
      const tokens = { inputTokens: 1e9, cachedTokens: 1e9, outputTokens: 1e9, reasoningTokens: 1e9 };
      for (let index = 0; index < 10; index++) {
        expect((await stores.ledger.reserve(reservation(`req_${index}`, { demand }))).type).toBe('reserved');
        if (index >= 6) continue;
        await stores.ledger.settle(settlement(`req_${index}`, { costPicoUsd: most + 1n, usage: tokens }));
      }
      const all = { standing: { budget: { remainingPicoUsd: 2n * most - 5n } } };
      const sums = { ...all, spentPicoUsd: 6n * most + 6n, reservedPicoUsd: 4n * most };
      expect(await standing(budget)).toMatchObject(sums);
      // Added up anew from the rows, which is what another period does.
      expect(await standing({ ...budget, reset: 'month' })).toMatchObject(sums);
      expect((await rowsOf(stores))[0]).toMatchObject({ costPicoUsd: most + 1n, usage: tokens });
    });

    it('refuses a second reservation of the same id, and nothing else that waits with it', async () => {
      const wanted = ['a', 'b', 'a', 'c'].map((id) => stores.ledger.reserve(reservation(id)));
      const results = await Promise.allSettled(wanted);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
      const settled = await Promise.all(['a', 'b', 'c'].map((id) => stores.ledger.settle(settlement(id))));
      expect(settled.map(({ type }) => type)).toEqual(['settled', 'settled', 'settled']);
      expect((await standing()).spentPicoUsd).toBe(3n * COST);
    });
  });

  describe(`budgets on ${name}`, () => {
    it('hold to the pico-dollar under hundreds of requests at once from two processes', async () => {
      const again = await opened.openAgain();
      const demand = { ...FREE, costPicoUsd: COST, budget: MONTHLY };
      const outcomes = await Promise.all(
        Array.from({ length: 400 }, async (_, index) => {
          const { ledger } = index % 2 === 0 ? stores : again;
          const reserved = await ledger.reserve(reservation(`req_${index}`, { demand }));
          if (reserved.type === 'reserved' && index % 3 !== 0)
            expect((await ledger.settle(settlement(`req_${index}`))).type).toBe('settled');
          return reserved;
        }),
      );
      expect(typesOf(outcomes)).toEqual({ reserved: 100, refused: 300 });
      const refused = outcomes.find(({ type }) => type === 'refused');
      expect(refused).toMatchObject({ reason: 'budget', retryAfterMs: Date.UTC(2026, 11, 1) - NOW_MS });
      const { spentPicoUsd, reservedPicoUsd, standing: stands } = await standing();
      expect(spentPicoUsd + reservedPicoUsd).toBe(100n * COST);
      expect(spentPicoUsd).toBe(BigInt((await rowsOf(stores)).length) * COST);
      expect(stands.budget?.remainingPicoUsd).toBe(0n);
      await again.close();
    });

    it('of many keys do not touch each other', async () => {
      const demand = { ...FREE, costPicoUsd: COST, budget: { amountPicoUsd: 5n * COST, reset: 'none' } as const };
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          stores.ledger.reserve(reservation(`req_${index}`, { keyId: `key_${index % 20}`, demand })),
        ),
      );
      expect(typesOf(outcomes)).toEqual({ reserved: 100, refused: 100 });
    });

    it('begin anew with their period; a request counts in the one in which it was accepted', async () => {
      const daily = { amountPicoUsd: 2n * COST, reset: 'day' } as const;
      const midnightMs = Date.UTC(2026, 10, 22);
      const demand = { ...FREE, costPicoUsd: COST, budget: daily };
      await run('req_1', midnightMs - 2, daily);
      const late = reservation('req_2', { acceptedAtMs: midnightMs - 1, demand });
      expect(await stores.ledger.reserve(late)).toMatchObject({
        type: 'reserved',
        standing: { budget: { remainingPicoUsd: 0n, resetsAtMs: midnightMs } },
      });
      const full = await stores.ledger.reserve(reservation('req_3', { acceptedAtMs: midnightMs - 1, demand }));
      expect(full).toMatchObject({ type: 'refused', reason: 'budget', retryAfterMs: 1 });
      const first = await stores.ledger.reserve(reservation('req_4', { acceptedAtMs: midnightMs, demand }));
      expect(first).toMatchObject({ type: 'reserved', standing: { budget: { remainingPicoUsd: COST } } });
      const settled = await stores.ledger.settle(settlement('req_2'));
      expect(settled).toMatchObject({ type: 'settled', standing: { budget: { remainingPicoUsd: COST } } });
      expect(await standing(daily, midnightMs)).toMatchObject({ spentPicoUsd: 0n, reservedPicoUsd: COST });
      expect(await standing(daily, midnightMs - 1)).toMatchObject({ spentPicoUsd: 2n * COST });
    });

    it('count from the rows when their reset is changed, also from those that were rolled up', async () => {
      for (const [index, days] of [40, 3, 0].entries()) await run(`req_${index}`, NOW_MS - days * DAY_MS, null);
      const remaining = async (reset: Budget['reset']) => {
        const budget = { amountPicoUsd: 10n * COST, reset };
        const reserved = await stores.ledger.reserve(reservation('asking', { demand: { ...FREE, budget } }));
        await stores.ledger.release('asking');
        if (reserved.type !== 'reserved') throw new Error(reserved.type);
        return reserved.standing.budget?.remainingPicoUsd;
      };
      const expectSums = async (): Promise<void> => {
        expect(await remaining('month')).toBe(8n * COST);
        expect(await remaining('day')).toBe(9n * COST);
        expect(await remaining('none')).toBe(7n * COST);
      };
      await expectSums();
      expect(await stores.usage.rollUp(NOW_MS - DAY_MS, 100)).toBe(2);
      expect(await rowsOf(stores)).toHaveLength(1);
      await expectSums();
    });
  });

  describe(`accounts on ${name}`, () => {
    it('are the sums of their rows and open requests, whatever two processes do at once around midnight', async () => {
      const again = await opened.openAgain();
      const midnightMs = Date.UTC(2026, 10, 22);
      const budget = { amountPicoUsd: 40n * COST, reset: 'day' } as const;
      const steps = fc.record({
        key: fc.nat(2),
        afterMs: fc.integer({ min: -20, max: 20 }),
        ending: fc.constantFrom('settle' as const, 'release' as const, 'stay' as const),
        share: fc.bigInt({ min: 0n, max: COST }),
      });
      let run = 0;
      const check = async (wanted: readonly (typeof steps extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
        const keyIds = [0, 1, 2].map((key) => `key_${run}_${key}`);
        const prefix = `run_${run++}`;
        const open: { keyId: string; acceptedAtMs: number }[] = [];
        await Promise.all(
          wanted.map(async ({ key, afterMs, ending, share }, index) => {
            const [keyId = '', id, acceptedAtMs] = [keyIds[key], `${prefix}_${index}`, midnightMs + afterMs];
            const { ledger } = index % 2 === 0 ? stores : again;
            const demand = { ...FREE, costPicoUsd: COST, budget };
            const reserved = await ledger.reserve(reservation(id, { keyId, acceptedAtMs, demand }));
            if (reserved.type !== 'reserved') return;
            if (ending === 'settle')
              expect(await ledger.settle(settlement(id, { costPicoUsd: share }))).toMatchObject({ type: 'settled' });
            else if (ending === 'release') await ledger.release(id);
            else open.push({ keyId, acceptedAtMs });
          }),
        );
        const rows = await rowsOf(stores);
        for (const keyId of keyIds)
          for (const [nowMs, startMs] of [
            [midnightMs - 1, midnightMs - DAY_MS],
            [midnightMs, midnightMs],
          ] as const) {
            const stands = await stores.ledger.standing({ id: keyId, budget, limits: NO_LIMITS }, nowMs);
            const since = (one: { keyId: string; acceptedAtMs: number }) =>
              one.keyId === keyId && one.acceptedAtMs >= startMs;
            const spent = rows.filter(since).reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n);
            expect(stands.spentPicoUsd).toBe(spent);
            expect(stands.reservedPicoUsd).toBe(BigInt(open.filter(since).length) * COST);
          }
      };
      await fc.assert(fc.asyncProperty(fc.array(steps, { minLength: 30, maxLength: 120 }), check), { numRuns: 8 });
      await again.close();
    });
  });

  describe(`limits on ${name}`, () => {
    it('of requests and tokens hold over two processes, and are open again when it was said', async () => {
      const again = await opened.openAgain();
      const demand = { ...FREE, tokens: 10, limits: { ...NO_LIMITS, requestsPerMinute: 50, tokensPerMinute: 300 } };
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          (index % 2 === 0 ? stores : again).ledger.reserve(reservation(`req_${index}`, { demand })),
        ),
      );
      expect(typesOf(outcomes)).toEqual({ reserved: 30, refused: 70 });
      const refused = outcomes.find((one) => one.type === 'refused');
      expect(refused).toMatchObject({ reason: 'tokens', retryAfterMs: 62_000 });
      const ask = (id: string, acceptedAtMs: number) => again.ledger.reserve(reservation(id, { acceptedAtMs, demand }));
      expect(await ask('early', NOW_MS + 61_999)).toMatchObject({ type: 'refused', retryAfterMs: 1 });
      expect(await ask('late', NOW_MS + 62_000)).toMatchObject({
        type: 'reserved',
        standing: { requests: { limit: 50, remaining: 20 }, tokens: { limit: 300, remaining: 0 } },
      });
      await again.close();
    });

    it('of concurrent requests hold over two processes, and leave when a request ends', async () => {
      const again = await opened.openAgain();
      const demand = { ...FREE, limits: { ...NO_LIMITS, concurrentRequests: 2 } };
      const ask = (id: string) => again.ledger.reserve(reservation(id, { demand }));
      expect(await stores.ledger.reserve(reservation('a', { demand }))).toMatchObject({ type: 'reserved' });
      expect(await ask('b')).toMatchObject({ type: 'reserved', standing: { concurrent: { limit: 2, remaining: 0 } } });
      expect(await ask('c')).toMatchObject({ type: 'refused', reason: 'concurrent', retryAfterMs: 1000 });
      expect(await stores.ledger.settle(settlement('a'))).toMatchObject({ standing: { concurrent: { remaining: 1 } } });
      expect(await ask('d')).toMatchObject({ type: 'reserved' });
      await again.close();
    });
  });
}
