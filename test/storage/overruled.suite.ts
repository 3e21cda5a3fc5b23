// What every ledger must do with the row of an answer that was never given: it ends as such, at cost 0, and no retry finds
// the reply. Unless one was given it meanwhile.

import { describe, expect, it } from 'vitest';
import { type Budget, NO_LIMITS } from '../../src/domain/api-key.ts';
import type { RequestOutcome, StoredReply } from '../../src/domain/ledger.ts';
import type { Reservation, Settlement, Stores } from '../../src/storage/stores.ts';
import {
  COST,
  claim,
  DAY_MS,
  FREE,
  NOW_MS,
  type OpenedStores,
  openForEachCase,
  outcome,
  reservation,
  rowOf,
  rowsOf,
  settlement,
} from './ledger-fixture.ts';

const REPLY: StoredReply = { contentType: 'application/json', body: '{}', headers: {} };
const DAILY: Budget = { amountPicoUsd: 3n * COST, reset: 'day' };
const DEMAND = { ...FREE, costPicoUsd: COST, budget: DAILY, limits: { ...NO_LIMITS, tokensPerMinute: 1000 } };
const NOT_GIVEN: RequestOutcome = outcome({
  end: 'failed',
  status: 503,
  errorCode: 'store_unavailable',
  usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
  costPicoUsd: 0n,
});

function overruling(id: string, claimHash: string | null = null): Settlement {
  return { id, outcome: NOT_GIVEN, overrules: { keyId: 'key_1', claimHash } };
}

export function describeOverruled(name: string, open: () => Promise<OpenedStores>): void {
  let opened: OpenedStores;
  let stores: Stores;

  openForEachCase(open, (fresh) => {
    opened = fresh;
    stores = fresh.stores;
  });

  const ask = (id: string, parts: Partial<Reservation> = {}, of = stores) =>
    of.ledger.reserve(reservation(id, { demand: DEMAND, ...parts }));
  const standing = async (nowMs = NOW_MS) => {
    const { ledger } = stores;
    const { limits } = DEMAND;
    const {
      standing: now,
      spentPicoUsd,
      reservedPicoUsd,
    } = await ledger.standing({ id: 'key_1', budget: DAILY, limits }, nowMs);
    return { spentPicoUsd, reservedPicoUsd, tokens: now.tokens?.remaining };
  };

  describe(`the row of an answer that was never given, on ${name}`, () => {
    it('costs nothing, however often that is said', async () => {
      await ask('a');
      await ask('b');
      await stores.ledger.settle(settlement('a'));
      await stores.ledger.settle(settlement('b'));
      expect(await standing()).toEqual({ spentPicoUsd: 2n * COST, reservedPicoUsd: 0n, tokens: 976 });
      for (let time = 0; time < 3; time++) {
        expect(await stores.ledger.settle(overruling('a'))).toMatchObject({ type: 'settled' });
      }
      const [a, b] = (await rowsOf(stores)).toSorted((one, other) => one.id.localeCompare(other.id));
      expect(a).toEqual(rowOf(reservation('a'), NOT_GIVEN));
      expect(b).toEqual(rowOf(reservation('b'), outcome()));
      expect(await standing()).toEqual({ spentPicoUsd: COST, reservedPicoUsd: 0n, tokens: 988 });
    });

    it('is the only one: what was not committed is closed, what is not there is missing', async () => {
      await ask('a');
      expect(await stores.ledger.settle(overruling('a'))).toMatchObject({ type: 'settled' });
      expect(await rowsOf(stores)).toEqual([rowOf(reservation('a'), NOT_GIVEN)]);
      expect(await stores.ledger.settle(overruling('b'))).toEqual({ type: 'missing' });
      expect(await standing()).toMatchObject({ spentPicoUsd: 0n, reservedPicoUsd: 0n });
    });

    it('frees the budget for what comes in the same transaction', async () => {
      for (const id of ['a', 'b', 'c']) {
        await ask(id);
        await stores.ledger.settle(settlement(id));
      }
      expect(await ask('d')).toMatchObject({ type: 'refused', reason: 'budget' });
      const [, , again] = await Promise.all([ask('e'), stores.ledger.settle(overruling('b')), ask('f')]);
      expect(again).toMatchObject({ type: 'reserved' });
      expect(await standing()).toMatchObject({ spentPicoUsd: 2n * COST, reservedPicoUsd: COST });
    });

    it('counts for its own day alone', async () => {
      await ask('a');
      await stores.ledger.settle(settlement('a'));
      const later = NOW_MS + DAY_MS;
      await ask('b', { acceptedAtMs: later });
      await stores.ledger.settle(settlement('b'));
      await stores.ledger.settle(overruling('a'));
      expect(await standing(later)).toMatchObject({ spentPicoUsd: COST });
      await ask('c', { acceptedAtMs: later });
      await stores.ledger.settle(settlement('c'));
      // The day is counted anew in the transaction that takes a row of it back.
      const [, reserved] = await Promise.all([
        ask('d', { acceptedAtMs: later + DAY_MS }),
        stores.ledger.settle(overruling('b')),
        ask('e', { acceptedAtMs: later }),
      ]);
      expect(reserved).toMatchObject({ type: 'settled' });
      expect(await standing(later)).toMatchObject({ spentPicoUsd: COST, reservedPicoUsd: 2n * COST });
    });

    it('is not found by a retry', async () => {
      await ask('a', { idempotency: claim() });
      await stores.ledger.settle(settlement('a', {}, REPLY));
      await stores.ledger.settle(overruling('a', claim().keyHash));
      expect(await ask('b', { idempotency: claim() })).toMatchObject({ type: 'reserved' });
      expect(await standing()).toMatchObject({ spentPicoUsd: 0n, reservedPicoUsd: COST });
    });

    it('stands where another server gave the reply to a retry meanwhile', async () => {
      const again = await opened.openAgain();
      await ask('a', { idempotency: claim() });
      await stores.ledger.settle(settlement('a', {}, REPLY));
      expect(await ask('b', { idempotency: claim() }, again)).toEqual({ type: 'replay', reply: REPLY });
      expect(await stores.ledger.settle(overruling('a', claim().keyHash))).toMatchObject({ type: 'settled' });
      expect(await rowsOf(stores)).toEqual([rowOf(reservation('a'), outcome())]);
      expect(await ask('c', { idempotency: claim() }, again)).toEqual({ type: 'replay', reply: REPLY });
      expect(await standing()).toMatchObject({ spentPicoUsd: COST });
      await again.close();
    });

    it('stays crashed where its server was taken for dead', async () => {
      await ask('a');
      await stores.ledger.recover(NOW_MS, NOW_MS);
      expect(await stores.ledger.settle(overruling('a'))).toEqual({ type: 'missing' });
      expect(await rowsOf(stores)).toMatchObject([{ end: 'crashed', costPicoUsd: 0n }]);
    });
  });
}
