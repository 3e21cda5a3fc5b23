// Keys from creation to revocation, over a store in memory and a clock moved by hand.

import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiKeyRecord, KeyStore } from '../storage/stores.ts';
import { ApiKeyService, type NewApiKey } from './api-keys.ts';
import { isWellFormedSecret } from './key-secret.ts';

const FIXED = 'a-fixed-key-of-the-house';
const PLAIN: NewApiKey = { name: 'plain', models: null, expiresAtMs: null };

class MemoryKeyStore implements KeyStore {
  readonly records: ApiKeyRecord[] = [];
  lookups = 0;

  async insert(record: ApiKeyRecord): Promise<void> {
    this.records.push(record);
  }

  async findByHash(secretHash: string): Promise<ApiKeyRecord | undefined> {
    this.lookups++;
    return this.records.find((record) => record.secretHash === secretHash);
  }

  async list(): Promise<readonly ApiKeyRecord[]> {
    return this.records;
  }

  async revoke(id: string, atMs: number): Promise<boolean> {
    const index = this.records.findIndex((record) => record.id === id);
    const record = this.records[index];
    if (record === undefined) return false;
    this.records[index] = { ...record, revokedAtMs: record.revokedAtMs ?? atMs };
    return true;
  }

  async count(): Promise<number> {
    return this.records.length;
  }
}

let store: MemoryKeyStore;
let nowMs: number;
let keys: ApiKeyService;

beforeEach(() => {
  store = new MemoryKeyStore();
  nowMs = 1_000_000;
  keys = new ApiKeyService({ store, fixedSecret: FIXED, nowMs: () => nowMs });
});

const refused = expect.objectContaining({ code: 'invalid_api_key', message: 'The API key is not valid.' });

describe('a created key', () => {
  it('is recognised, with its models and without its hash', async () => {
    const { key, secret } = await keys.create({ ...PLAIN, models: ['kev'] });
    expect(await keys.authenticate(secret)).toEqual(key);
    expect(key).toMatchObject({ models: ['kev'], scopes: ['inference'], revokedAtMs: null });
    expect(secret.startsWith(key.visiblePrefix)).toBe(true);
    expect(key.visiblePrefix).toMatch(/^ump_.{4}$/);
  });

  it('is kept as a hash only', async () => {
    const { secret } = await keys.create(PLAIN);
    expect(JSON.stringify(store.records)).not.toContain(secret);
    expect(JSON.stringify(await keys.list())).not.toContain('secretHash');
  });

  it('has 190 random bits: no two alike', async () => {
    const secrets = await Promise.all(Array.from({ length: 200 }, async () => (await keys.create(PLAIN)).secret));
    expect(new Set(secrets).size).toBe(200);
    expect(secrets.every((secret) => /^ump_[0-9A-Za-z]{38}$/.test(secret))).toBe(true);
    expect(32 * Math.log2(62)).toBeGreaterThan(190);
  });

  it('works until the millisecond before it expires', async () => {
    const { secret } = await keys.create({ ...PLAIN, expiresAtMs: nowMs + 60_000 });
    nowMs += 59_999;
    await expect(keys.authenticate(secret)).resolves.toBeDefined();
    nowMs += 1;
    await expect(keys.authenticate(secret)).rejects.toEqual(refused);
  });

  it('stops at once when revoked here, within a second when revoked by another process', async () => {
    const { key, secret } = await keys.create(PLAIN);
    await keys.authenticate(secret);
    await store.revoke(key.id, nowMs);
    nowMs += 1000;
    await expect(keys.authenticate(secret)).rejects.toEqual(refused);

    const other = await keys.create(PLAIN);
    await keys.authenticate(other.secret);
    expect(await keys.revoke(other.key.id)).toBe(true);
    await expect(keys.authenticate(other.secret)).rejects.toEqual(refused);
  });
});

describe('a wrong key', () => {
  it('with a typo is refused without a look-up', async () => {
    const { secret } = await keys.create(PLAIN);
    for (let i = 4; i < secret.length; i++) {
      const typo = secret.slice(0, i) + (secret[i] === 'x' ? 'y' : 'x') + secret.slice(i + 1);
      await expect(keys.authenticate(typo)).rejects.toEqual(refused);
    }
    expect(store.lookups).toBe(0);
  });

  it.each(['', 'ump_', 'sk-1234567890abcdef', `ump_${'0'.repeat(38)}x`, 'ключ', FIXED.slice(0, -1), `${FIXED}x`])(
    'such as "%s" is refused without a look-up',
    async (secret) => {
      await expect(keys.authenticate(secret)).rejects.toEqual(refused);
      expect(store.lookups).toBe(0);
    },
  );

  it('of another server, well formed but unknown, is refused', async () => {
    const { secret } = await new ApiKeyService({ store: new MemoryKeyStore() }).create(PLAIN);
    expect(isWellFormedSecret(secret)).toBe(true);
    await expect(keys.authenticate(secret)).rejects.toEqual(refused);
  });

  it('is not remembered as wrong', async () => {
    const elsewhere = new MemoryKeyStore();
    const { secret } = await new ApiKeyService({ store: elsewhere }).create(PLAIN);
    await expect(keys.authenticate(secret)).rejects.toEqual(refused);
    store.records.push(...elsewhere.records);
    await expect(keys.authenticate(secret)).resolves.toBeDefined();
  });
});

describe('the cache', () => {
  it('spares the store for a second, also for requests at the same time', async () => {
    const { secret } = await keys.create(PLAIN);
    await Promise.all([keys.authenticate(secret), keys.authenticate(secret)]);
    nowMs += 999;
    await keys.authenticate(secret);
    expect(store.lookups).toBe(1);
    nowMs += 1;
    await keys.authenticate(secret);
    expect(store.lookups).toBe(2);
  });

  it('does not keep the failure of a store', async () => {
    const { secret } = await keys.create(PLAIN);
    const { findByHash } = store;
    store.findByHash = () => Promise.reject(new Error('disk gone'));
    await expect(keys.authenticate(secret)).rejects.toThrow('disk gone');
    store.findByHash = findByHash;
    await expect(keys.authenticate(secret)).resolves.toBeDefined();
  });
});

describe('the key of the configuration', () => {
  it('is taken as given, with all models and scopes, and is not in the list', async () => {
    expect(await keys.authenticate(FIXED)).toMatchObject({ models: null, scopes: ['inference', 'admin'] });
    expect(await keys.list()).toEqual([]);
    expect(store.lookups).toBe(0);
  });

  it('counts as a key', async () => {
    expect(await keys.hasNoKeys()).toBe(false);
    expect(await new ApiKeyService({ store }).hasNoKeys()).toBe(true);
  });
});
