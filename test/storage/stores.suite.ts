// What every store must do, as cases that run over each implementation. A suite, not a test file: stores.*.test.ts call
// it. Keys, prices and audit are here; ledger.suite.ts, claims.suite.ts and overruled.suite.ts
// belong to it.

import { describe, expect, it } from 'vitest';
import { type ApiKey, NO_LIMITS } from '../../src/domain/api-key.ts';
import type { AuditRecord } from '../../src/domain/audit.ts';
import type { DatedPrice } from '../../src/domain/money.ts';
import type { KeySecret, Stores } from '../../src/storage/stores.ts';
import { describeClaims } from './claims.suite.ts';
import { describeLedger } from './ledger.suite.ts';
import { HOSTILE, type OpenedStores, openForEachCase } from './ledger-fixture.ts';
import { describeOverruled } from './overruled.suite.ts';

export type { OpenedStores } from './ledger-fixture.ts';

const KEY: ApiKey = {
  id: 'key_1',
  name: 'billing',
  visiblePrefix: 'ump_Ab3d',
  models: ['kev', 'a model "with" odd, characters'],
  scopes: ['inference', 'admin'],
  budget: { amountPicoUsd: 9_999_999_999_999_999_999n, reset: 'month' },
  limits: { requestsPerMinute: 60, tokensPerMinute: 2 ** 40, concurrentRequests: 3 },
  createdAtMs: 1_763_700_000_000,
  createdBy: 'key_admin',
  expiresAtMs: 1_763_800_000_001,
  disabledAtMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
};

const OTHER: ApiKey = {
  ...KEY,
  id: 'key_2',
  name: HOSTILE,
  models: null,
  scopes: ['inference'],
  budget: null,
  limits: NO_LIMITS,
  expiresAtMs: null,
  createdAtMs: KEY.createdAtMs - 1,
};

const SECRET: KeySecret = {
  hash: 'ab'.repeat(32),
  visiblePrefix: KEY.visiblePrefix,
  createdAtMs: KEY.createdAtMs,
  expiresAtMs: null,
};

const OTHER_SECRET: KeySecret = { ...SECRET, hash: 'cd'.repeat(32) };

const PRICE: DatedPrice = {
  modelId: 'kev',
  effectiveFromMs: 1_763_700_000_000,
  price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 0, outputMicroUsd: 1_000_000_000 },
  createdAtMs: 1_763_600_000_000,
  createdBy: 'command line',
};

function audit(action: string, atMs = 5000): AuditRecord {
  return { atMs, actor: 'key_admin', action, target: KEY.id, details: { name: HOSTILE } };
}

export function describeStores(name: string, open: () => Promise<OpenedStores>): void {
  describeLedger(name, open);
  describeClaims(name, open);
  describeOverruled(name, open);
  let opened: OpenedStores;
  let stores: Stores;

  openForEachCase(open, (fresh) => {
    opened = fresh;
    stores = fresh.stores;
  });

  const insert = async (key: ApiKey = KEY, secret: KeySecret = SECRET): Promise<void> => {
    await stores.keys.insert(key, secret, audit('key.create'));
  };
  const auditedActions = async (): Promise<string[]> =>
    (await stores.audit.list({ before: undefined, limit: 100 })).map(({ action }) => action);

  describe(`keys on ${name}`, () => {
    it('lists the hashes of all secrets, page by page, and of new ones alone', async () => {
      const hashes = Array.from({ length: 25 }, (_, index) => String(index).padStart(64, '0'));
      for (const [index, hash] of hashes.entries()) {
        const secret = { ...SECRET, hash, createdAtMs: 1000 + index };
        await stores.keys.insert({ ...KEY, id: `key_${index}` }, secret, audit('key.create'));
      }
      const list = (createdFromMs: number, after?: string) =>
        stores.keys.listSecretHashes({ createdFromMs, after, limit: 10 });
      expect(await list(0)).toEqual(hashes.slice(0, 10));
      expect(await list(0, hashes[9])).toEqual(hashes.slice(10, 20));
      expect(await list(0, hashes[19])).toEqual(hashes.slice(20));
      expect(await list(1022)).toEqual(hashes.slice(22));
      expect(await list(1022, hashes[23])).toEqual(hashes.slice(24));
    });

    it('begin empty', async () => {
      await stores.check();
      expect(await stores.keys.count()).toBe(0);
      expect(await stores.keys.list()).toEqual([]);
      expect(await stores.keys.findByHash(SECRET.hash)).toBeUndefined();
      expect(await stores.keys.findById(KEY.id)).toBeUndefined();
    });

    it('come back as they were put in, by hash and by id', async () => {
      await insert();
      await insert(OTHER, OTHER_SECRET);
      expect(await stores.keys.findByHash(SECRET.hash)).toEqual({ key: KEY, secret: SECRET });
      expect(await stores.keys.findByHash(OTHER_SECRET.hash)).toEqual({ key: OTHER, secret: OTHER_SECRET });
      expect(await stores.keys.findById(OTHER.id)).toEqual(OTHER);
      expect(await stores.keys.count()).toBe(2);
    });

    it('are listed oldest first, in pages', async () => {
      await insert();
      await insert(OTHER, OTHER_SECRET);
      await insert({ ...KEY, id: 'key_0' }, { ...SECRET, hash: 'ef'.repeat(32) });
      const idsOf = (keys: readonly ApiKey[]): string[] => keys.map(({ id }) => id);
      expect(idsOf(await stores.keys.list())).toEqual(['key_2', 'key_0', 'key_1']);
      expect(idsOf(await stores.keys.list({ after: undefined, limit: 2 }))).toEqual(['key_2', 'key_0']);
      expect(idsOf(await stores.keys.list({ after: 'key_2', limit: 1 }))).toEqual(['key_0']);
      expect(idsOf(await stores.keys.list({ after: 'key_0', limit: 5 }))).toEqual(['key_1']);
      expect(await stores.keys.list({ after: 'key_1', limit: 5 })).toEqual([]);
      expect(await stores.keys.list({ after: HOSTILE, limit: 5 })).toEqual([]);
    });

    it('keep an empty list of models apart from all models', async () => {
      await insert({ ...KEY, models: [] });
      expect((await stores.keys.findById(KEY.id))?.models).toEqual([]);
    });

    it('refuse a second one of the same id or hash, and leave nothing of it', async () => {
      await insert();
      await expect(insert({ ...OTHER, id: KEY.id }, OTHER_SECRET)).rejects.toThrow();
      await expect(insert(OTHER, SECRET)).rejects.toThrow();
      expect(await stores.keys.list()).toEqual([KEY]);
      expect(await stores.keys.findByHash(OTHER_SECRET.hash)).toBeUndefined();
      expect(await auditedActions()).toEqual(['key.create']);
    });

    it('change in what is named and in nothing else', async () => {
      await insert();
      await insert(OTHER, OTHER_SECRET);
      const change = {
        name: HOSTILE,
        models: null,
        scopes: ['inference'] as const,
        budget: { amountPicoUsd: 2n ** 60n + 1n, reset: 'day' } as const,
        limits: { ...NO_LIMITS, requestsPerMinute: 1 },
        expiresAtMs: null,
        disabledAtMs: 77,
      };
      const changed = { ...KEY, ...change };
      expect(await stores.keys.update(KEY.id, change, audit('key.update'))).toEqual(changed);
      expect(await stores.keys.findById(KEY.id)).toEqual(changed);
      expect(await stores.keys.update(KEY.id, { budget: null }, audit('key.update'))).toEqual({
        ...changed,
        budget: null,
      });
      expect(await stores.keys.update(KEY.id, {}, audit('key.nothing'))).toEqual({ ...changed, budget: null });
      expect(await stores.keys.update('key_none', change, audit('key.update'))).toBeUndefined();
      expect(await stores.keys.findById(OTHER.id)).toEqual(OTHER);
      expect(await auditedActions()).toEqual(['key.nothing', 'key.update', 'key.update', 'key.create', 'key.create']);
    });

    it('are revoked one by one, and keep the first time when revoked again', async () => {
      await insert();
      await insert(OTHER, OTHER_SECRET);
      const revoked = { ...KEY, revokedAtMs: 5000 };
      expect(await stores.keys.revoke(KEY.id, audit('key.revoke', 5000))).toEqual(revoked);
      expect(await stores.keys.revoke(KEY.id, audit('key.revoke', 6000))).toEqual(revoked);
      expect((await stores.keys.findByHash(SECRET.hash))?.key).toEqual(revoked);
      expect(await stores.keys.findById(OTHER.id)).toEqual(OTHER);
      expect(await stores.keys.revoke('key_none', audit('key.revoke'))).toBeUndefined();
      expect(await auditedActions()).toEqual(['key.revoke', 'key.create', 'key.create']);
    });

    it('rotate: the old secrets work until the overlap ends, and none of them longer than before', async () => {
      await insert();
      await insert(OTHER, OTHER_SECRET);
      const secrets = ['1', '2'].map((digit) => ({
        ...SECRET,
        hash: digit.repeat(64),
        visiblePrefix: `ump_new${digit}`,
      }));
      const [second, third] = secrets as [KeySecret, KeySecret];
      const rotate = (secret: KeySecret, overlapEndsAtMs: number) =>
        stores.keys.rotate(KEY.id, { secret, overlapEndsAtMs, audit: audit('key.rotate') });
      expect(await rotate(second, 9000)).toEqual({ ...KEY, visiblePrefix: 'ump_new1' });
      expect(await rotate(third, 9500)).toEqual({ ...KEY, visiblePrefix: 'ump_new2' });
      const secretOf = async (hash: string) => (await stores.keys.findByHash(hash))?.secret;
      expect(await secretOf(SECRET.hash)).toEqual({ ...SECRET, expiresAtMs: 9000 });
      expect(await secretOf(second.hash)).toEqual({ ...second, expiresAtMs: 9500 });
      expect(await secretOf(third.hash)).toEqual(third);
      expect((await stores.keys.findByHash(SECRET.hash))?.key.visiblePrefix).toBe('ump_new2');
      expect(await secretOf(OTHER_SECRET.hash)).toEqual(OTHER_SECRET);
      expect(await auditedActions()).toEqual(['key.rotate', 'key.rotate', 'key.create', 'key.create']);
    });

    it('do not rotate when there is no such key, or it is revoked', async () => {
      await insert();
      const rotation = { secret: OTHER_SECRET, overlapEndsAtMs: 9000, audit: audit('key.rotate') };
      expect(await stores.keys.rotate('key_none', rotation)).toBeUndefined();
      await stores.keys.revoke(KEY.id, audit('key.revoke'));
      expect(await stores.keys.rotate(KEY.id, rotation)).toBeUndefined();
      expect(await stores.keys.findByHash(OTHER_SECRET.hash)).toBeUndefined();
      expect((await stores.keys.findByHash(SECRET.hash))?.secret.expiresAtMs).toBeNull();
      expect(await auditedActions()).toEqual(['key.revoke', 'key.create']);
    });

    it('show another process what this one wrote, and this one what the other wrote', async () => {
      const again = await opened.openAgain();
      await insert();
      expect(await again.keys.findById(KEY.id)).toEqual(KEY);
      await again.keys.revoke(KEY.id, audit('key.revoke', 7000));
      expect((await stores.keys.findById(KEY.id))?.revokedAtMs).toBe(7000);
      await again.close();
    });

    it('take writes from two processes at once', async () => {
      const again = await opened.openAgain();
      const writes = Array.from({ length: 40 }, (_, index) => {
        const secret = { ...SECRET, hash: String(index).padStart(64, '0') };
        return (index % 2 === 0 ? stores : again).keys.insert(
          { ...KEY, id: `key_${index}` },
          secret,
          audit('key.create'),
        );
      });
      await Promise.all(writes);
      expect(await stores.keys.count()).toBe(40);
      await again.close();
    });

    it('are there after a restart', async () => {
      await insert();
      await stores.close();
      const again = await opened.openAgain();
      expect(await again.keys.list()).toEqual([KEY]);
      await again.close();
    });

    it('are refused once the store is closed', async () => {
      await stores.close();
      await expect(stores.keys.count()).rejects.toThrow();
      await expect(stores.check()).rejects.toThrow();
    });
  });

  describe(`prices on ${name}`, () => {
    it('come back by model and time, as they were put in', async () => {
      const later = { ...PRICE, effectiveFromMs: PRICE.effectiveFromMs + 1 };
      const other = { ...PRICE, modelId: HOSTILE, createdBy: HOSTILE };
      for (const price of [later, other, PRICE])
        expect(await stores.prices.insert(price, audit('price.set'))).toBe(true);
      expect(await stores.prices.list()).toEqual([other, PRICE, later]);
      expect(await auditedActions()).toEqual(['price.set', 'price.set', 'price.set']);
    });

    it('are never changed: a second one for the same moment is refused', async () => {
      await stores.prices.insert(PRICE, audit('price.set'));
      expect(await stores.prices.insert({ ...PRICE, createdBy: 'other' }, audit('price.set'))).toBe(false);
      expect(await stores.prices.list()).toEqual([PRICE]);
      expect(await auditedActions()).toEqual(['price.set']);
    });
  });

  describe(`the audit trail on ${name}`, () => {
    it('is given newest first, in pages, as it was written', async () => {
      const records = Array.from({ length: 5 }, (_, index) => ({ ...audit(`act.${index}`, index), actor: HOSTILE }));
      for (const record of records) await stores.audit.append(record);
      const page = await stores.audit.list({ before: undefined, limit: 3 });
      expect(page).toEqual([4, 3, 2].map((index) => ({ id: expect.any(Number), ...records[index] })));
      const rest = await stores.audit.list({ before: page.at(-1)?.id, limit: 3 });
      expect(rest.map(({ action }) => action)).toEqual(['act.1', 'act.0']);
      expect(await stores.audit.list({ before: rest.at(-1)?.id, limit: 3 })).toEqual([]);
    });

    it('writes amounts in full', async () => {
      await stores.audit.append({ ...audit('key.update'), details: { amountPicoUsd: 2n ** 60n } });
      const [record] = await stores.audit.list({ before: undefined, limit: 1 });
      expect(record?.details).toEqual({ amountPicoUsd: String(2n ** 60n) });
    });
  });
}
