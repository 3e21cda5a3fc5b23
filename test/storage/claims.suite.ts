// What every ledger must do with retries of the same request, and with the requests of a process that died.

import { describe, expect, it } from 'vitest';
import { NO_LIMITS } from '../../src/domain/api-key.ts';
import type { StoredReply } from '../../src/domain/ledger.ts';
import type { Reservation, Stores } from '../../src/storage/stores.ts';
import {
  COST,
  claim,
  DAY_MS,
  FREE,
  NOW_MS,
  type OpenedStores,
  openForEachCase,
  reservation,
  rowsOf,
  settlement,
  typesOf,
} from './ledger-fixture.ts';

const REPLY: StoredReply = {
  contentType: 'application/json',
  body: '{"text":"ü\\u0000"}',
  headers: { 'x-umpire-cost-usd': '0.1' },
};

export function describeClaims(name: string, open: () => Promise<OpenedStores>): void {
  let opened: OpenedStores;
  let stores: Stores;

  openForEachCase(open, (fresh) => {
    opened = fresh;
    stores = fresh.stores;
  });

  const ask = (id: string, parts: Partial<Reservation> = {}) =>
    stores.ledger.reserve(reservation(id, { idempotency: claim(), ...parts }));

  describe(`idempotency on ${name}`, () => {
    it('runs a request once: the retry waits, then is given the reply', async () => {
      expect((await ask('a')).type).toBe('reserved');
      expect(await ask('b')).toEqual({ type: 'in-progress' });
      await stores.ledger.settle(settlement('a', {}, REPLY));
      expect(await ask('c')).toEqual({ type: 'replay', reply: REPLY });
      expect(await ask('d')).toEqual({ type: 'replay', reply: REPLY });
      expect(await rowsOf(stores)).toHaveLength(1);
      expect(await stores.ledger.settle(settlement('c'))).toEqual({ type: 'missing' });
    });

    it('gives the claim to one of many that come at once, at two processes', async () => {
      const again = await opened.openAgain();
      const outcomes = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          (index % 2 === 0 ? stores : again).ledger.reserve(reservation(`req_${index}`, { idempotency: claim() })),
        ),
      );
      expect(typesOf(outcomes)).toEqual({ reserved: 1, 'in-progress': 59 });
      await again.close();
    });

    it('tells that a reply was too large to be kept', async () => {
      await ask('a');
      await stores.ledger.settle(settlement('a', {}, null));
      expect(await ask('b')).toEqual({ type: 'replay', reply: null });
    });

    it('keeps large replies', async () => {
      const reply = { ...REPLY, body: 'data: é\n\n'.repeat(200_000) };
      await ask('a');
      await stores.ledger.settle(settlement('a', {}, reply));
      expect(await ask('b')).toEqual({ type: 'replay', reply });
    });

    it('refuses the key for another request', async () => {
      await ask('a');
      const other = { idempotency: claim({ fingerprint: '00'.repeat(32) }) };
      expect(await ask('b', other)).toEqual({ type: 'mismatch' });
      await stores.ledger.settle(settlement('a', {}, REPLY));
      expect(await ask('c', other)).toEqual({ type: 'mismatch' });
    });

    it('keeps the keys of two callers apart', async () => {
      await ask('a');
      expect((await ask('b', { keyId: 'key_2' })).type).toBe('reserved');
      await stores.ledger.settle(settlement('a', {}, REPLY));
      expect(await ask('c', { keyId: 'key_2' })).toEqual({ type: 'in-progress' });
    });

    it('runs anew what failed, was released, or was never let in', async () => {
      await ask('a');
      await stores.ledger.settle(settlement('a', { end: 'failed', costPicoUsd: 0n }));
      expect((await ask('b')).type).toBe('reserved');
      await stores.ledger.release('b');
      const demand = { ...FREE, limits: { ...NO_LIMITS, concurrentRequests: 0 } };
      expect((await ask('c', { demand })).type).toBe('refused');
      expect((await ask('d')).type).toBe('reserved');
      expect(await rowsOf(stores)).toHaveLength(1);
    });

    it('replays to a key whose budget is spent', async () => {
      const demand = { ...FREE, costPicoUsd: COST, budget: { amountPicoUsd: COST, reset: 'none' } as const };
      await ask('a', { demand });
      await stores.ledger.settle(settlement('a', {}, REPLY));
      expect((await ask('b', { demand })).type).toBe('replay');
      expect((await ask('c', { demand, idempotency: null })).type).toBe('refused');
    });

    it('forgets at the end of the window, and a late end does not touch who claimed it since', async () => {
      await ask('a', { idempotency: claim({ expiresAtMs: NOW_MS + 10 }) });
      expect((await ask('b', { acceptedAtMs: NOW_MS + 9 })).type).toBe('in-progress');
      expect((await ask('c', { acceptedAtMs: NOW_MS + 10 })).type).toBe('reserved');
      await stores.ledger.settle(settlement('a', {}, REPLY));
      expect((await ask('d', { acceptedAtMs: NOW_MS + 11 })).type).toBe('in-progress');
      await stores.ledger.settle(settlement('c', {}, null));
      expect(await ask('e', { acceptedAtMs: NOW_MS + 12 })).toEqual({ type: 'replay', reply: null });
    });

    it('deletes what is over, and nothing else', async () => {
      for (let index = 0; index < 12; index++) {
        const keyHash = String(index).padStart(64, '0');
        const expiresAtMs = NOW_MS + (index < 7 ? 5 : 6);
        await ask(`req_${index}`, { idempotency: claim({ keyHash, expiresAtMs }) });
      }
      expect(await stores.ledger.purgeReplies(NOW_MS + 4)).toBe(0);
      expect(await stores.ledger.purgeReplies(NOW_MS + 5)).toBe(7);
      expect(await stores.ledger.purgeReplies(NOW_MS + DAY_MS)).toBe(5);
      expect(await stores.ledger.purgeReplies(NOW_MS + DAY_MS)).toBe(0);
    });
  });

  describe(`recovery on ${name}`, () => {
    const demand = { ...FREE, costPicoUsd: COST, budget: { amountPicoUsd: 10n * COST, reset: 'none' } as const };
    const standing = () => stores.ledger.standing({ id: 'key_1', ...demand }, NOW_MS);

    it('closes the open requests of dead processes at no cost, and of no other', async () => {
      await stores.ledger.beat('dead', NOW_MS - 100);
      await stores.ledger.beat('alive', NOW_MS - 100);
      await stores.ledger.beat('alive', NOW_MS);
      for (const id of ['d1', 'd2', 'd3', 'a1'])
        await ask(id, { demand, instanceId: id.startsWith('d') ? 'dead' : 'alive', idempotency: null });
      await stores.ledger.settle(settlement('d3'));
      expect(await stores.ledger.recover(NOW_MS - 100, NOW_MS)).toBe(0);
      expect(await stores.ledger.recover(NOW_MS - 99, NOW_MS + 50)).toBe(2);
      expect(await stores.ledger.recover(NOW_MS - 99, NOW_MS + 60)).toBe(0);
      const rows = await rowsOf(stores);
      const usage = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 };
      const crashed = { end: 'crashed', status: 500, usage, costPicoUsd: 0n, durationMs: 50, waitMs: null };
      expect(rows.find(({ id }) => id === 'd1')).toMatchObject(crashed);
      expect(rows.find(({ id }) => id === 'd2')).toMatchObject(crashed);
      expect(rows.map(({ id }) => id).sort()).toEqual(['d1', 'd2', 'd3']);
      expect(await standing()).toMatchObject({ spentPicoUsd: COST, reservedPicoUsd: COST });
      expect(await stores.ledger.settle(settlement('a1'))).toMatchObject({ type: 'settled' });
    });

    it('tells a process that was taken for dead that its request is gone', async () => {
      await ask('a', { demand });
      expect(await stores.ledger.recover(NOW_MS, NOW_MS)).toBe(1);
      expect(await stores.ledger.settle(settlement('a'))).toEqual({ type: 'missing' });
      expect(await rowsOf(stores)).toMatchObject([{ id: 'a', end: 'crashed' }]);
      expect((await standing()).spentPicoUsd).toBe(0n);
    });

    it('gives up the claims of what crashed: a retry runs anew', async () => {
      await ask('a');
      await stores.ledger.recover(NOW_MS, NOW_MS);
      expect((await ask('b')).type).toBe('reserved');
    });

    it('closes what a process left open that went', async () => {
      await stores.ledger.beat('instance_1', NOW_MS);
      await ask('a');
      expect(await stores.ledger.recover(NOW_MS, NOW_MS)).toBe(0);
      await stores.ledger.leave('instance_1');
      expect(await stores.ledger.recover(NOW_MS, NOW_MS)).toBe(1);
    });

    it('is done once by processes that recover at the same time, and for hundreds of requests', async () => {
      const again = await opened.openAgain();
      const ids = Array.from({ length: 700 }, (_, index) => `req_${index}`);
      await Promise.all(ids.map((id, index) => ask(id, { keyId: `key_${index % 7}`, idempotency: null })));
      const counts = await Promise.all([stores, again, stores].map(({ ledger }) => ledger.recover(NOW_MS, NOW_MS)));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(700);
      expect(await rowsOf(stores)).toHaveLength(700);
      await again.close();
    });

    it('finds everything as it was committed after the store is closed and opened', async () => {
      await ask('a', { demand });
      await ask('b', { demand, idempotency: null });
      await stores.ledger.settle(settlement('a', {}, REPLY));
      await stores.close();
      const again = await opened.openAgain();
      expect(await again.ledger.reserve(reservation('c', { idempotency: claim() }))).toMatchObject({ type: 'replay' });
      expect(await again.ledger.recover(NOW_MS, NOW_MS)).toBe(1);
      expect((await rowsOf(again)).map(({ end }) => end).sort()).toEqual(['completed', 'crashed']);
      await again.close();
    });
  });
}
