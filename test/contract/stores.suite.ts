// What every store must do, as cases that run over each implementation. A suite, not a test file: stores.*.test.ts call it.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NO_LIMITS } from '../../src/domain/api-key.ts';
import type { ApiKeyRecord, Stores } from '../../src/storage/stores.ts';

export interface OpenedStores {
  readonly stores: Stores;
  /** A second connection to the same data, as another process has it. */
  openAgain(): Promise<Stores>;
  remove(): Promise<void>;
}

const RECORD: ApiKeyRecord = {
  id: 'key_1',
  name: 'billing',
  visiblePrefix: 'ump_Ab3d',
  models: ['kev', 'a model "with" odd, characters'],
  scopes: ['inference', 'admin'],
  createdAtMs: 1_763_700_000_000,
  expiresAtMs: 1_763_800_000_001,
  disabledAtMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
  createdBy: 'server',
  budget: null,
  limits: NO_LIMITS,
  secretHash: 'ab'.repeat(32),
};

const OTHER: ApiKeyRecord = {
  ...RECORD,
  id: 'key_2',
  name: "Zoë's key; DROP TABLE api_keys; --",
  models: null,
  expiresAtMs: null,
  createdAtMs: RECORD.createdAtMs - 1,
  secretHash: 'cd'.repeat(32),
};

export function describeStores(name: string, open: () => Promise<OpenedStores>): void {
  describe(`stores on ${name}`, () => {
    let opened: OpenedStores;
    let stores: Stores;

    beforeEach(async () => {
      opened = await open();
      stores = opened.stores;
    });

    afterEach(async () => {
      await opened.remove();
    });

    it('begin empty', async () => {
      expect(await stores.keys.count()).toBe(0);
      expect(await stores.keys.list()).toEqual([]);
      expect(await stores.keys.findByHash(RECORD.secretHash)).toBeUndefined();
    });

    it('give back a key as it was put in, found by its hash', async () => {
      await stores.keys.insert(RECORD);
      await stores.keys.insert(OTHER);
      expect(await stores.keys.findByHash(RECORD.secretHash)).toEqual(RECORD);
      expect(await stores.keys.findByHash(OTHER.secretHash)).toEqual(OTHER);
      expect(await stores.keys.count()).toBe(2);
    });

    it('list keys oldest first', async () => {
      await stores.keys.insert(RECORD);
      await stores.keys.insert(OTHER);
      expect((await stores.keys.list()).map((record) => record.id)).toEqual(['key_2', 'key_1']);
    });

    it('keep an empty list of models apart from all models', async () => {
      await stores.keys.insert({ ...RECORD, models: [] });
      expect((await stores.keys.findByHash(RECORD.secretHash))?.models).toEqual([]);
    });

    it('refuse a second key of the same id or the same hash', async () => {
      await stores.keys.insert(RECORD);
      await expect(stores.keys.insert({ ...OTHER, id: RECORD.id })).rejects.toThrow();
      await expect(stores.keys.insert({ ...OTHER, secretHash: RECORD.secretHash })).rejects.toThrow();
      expect(await stores.keys.count()).toBe(1);
    });

    it('revoke one key, and keep the first time when revoked again', async () => {
      await stores.keys.insert(RECORD);
      await stores.keys.insert(OTHER);
      expect(await stores.keys.revoke(RECORD.id, 5000)).toBe(true);
      expect(await stores.keys.revoke(RECORD.id, 6000)).toBe(true);
      expect((await stores.keys.findByHash(RECORD.secretHash))?.revokedAtMs).toBe(5000);
      expect((await stores.keys.findByHash(OTHER.secretHash))?.revokedAtMs).toBeNull();
      expect(await stores.keys.revoke('key_unknown', 5000)).toBe(false);
    });

    it('show another process what this one wrote, and this one what the other wrote', async () => {
      const again = await opened.openAgain();
      await stores.keys.insert(RECORD);
      expect(await again.keys.findByHash(RECORD.secretHash)).toEqual(RECORD);
      await again.keys.revoke(RECORD.id, 7000);
      expect((await stores.keys.findByHash(RECORD.secretHash))?.revokedAtMs).toBe(7000);
      await again.close();
    });

    it('take writes from two processes at once', async () => {
      const again = await opened.openAgain();
      const writes = Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? stores : again).keys.insert({
          ...RECORD,
          id: `key_${index}`,
          secretHash: String(index).padStart(64, '0'),
        }),
      );
      await Promise.all(writes);
      expect(await stores.keys.count()).toBe(40);
      await again.close();
    });

    it('keep everything over a restart', async () => {
      await stores.keys.insert(RECORD);
      await stores.close();
      const again = await opened.openAgain();
      expect(await again.keys.list()).toEqual([RECORD]);
      await again.close();
    });

    it('refuse work once closed', async () => {
      await stores.close();
      await expect(stores.keys.count()).rejects.toThrow();
    });
  });
}
