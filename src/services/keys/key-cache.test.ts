// How old an answer about a key may be, and how often the store is asked, over a clock moved by hand.

import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryKeyStore } from '../../../test/services/memory-key-store.ts';
import { StoreUnavailableError } from '../../domain/errors.ts';
import { ApiKeyService } from './keys.ts';

const PLAIN = { name: 'plain', models: null, expiresAtMs: null };
const MAX_STRANGERS = 500;
const MAX_OF_ADDRESS = 50;

let store: MemoryKeyStore;
let nowMs: number;
const refused = expect.objectContaining({ code: 'invalid_api_key' });
const serviceOf = (options: { servesStale?: boolean } = {}) =>
  new ApiKeyService({ store, nowMs: () => nowMs, ...options });

beforeEach(() => {
  store = new MemoryKeyStore();
  nowMs = 1_000_000;
});

describe('a key in use', () => {
  it('is looked up once a second, also for requests at the same time', async () => {
    const keys = serviceOf();
    const { secret } = await keys.create(PLAIN);
    await Promise.all([keys.authenticate(secret), keys.authenticate(secret)]);
    nowMs += 999;
    await keys.authenticate(secret);
    expect(store.lookups).toBe(1);
    nowMs += 1;
    await Promise.all([keys.authenticate(secret), keys.authenticate(secret)]);
    expect(store.lookups).toBe(2);
  });

  it.each(['revoke', 'disable', 'rotate'] as const)('stops within a second of a %s elsewhere', async (how) => {
    const [keys, elsewhere] = [serviceOf(), serviceOf()];
    const { key, secret } = await keys.create(PLAIN);
    await keys.authenticate(secret);
    if (how === 'revoke') await elsewhere.revoke(key.id, 'key_other');
    else if (how === 'disable') await elsewhere.update(key.id, { isDisabled: true }, 'key_other');
    else await elsewhere.rotate(key.id, 'key_other', 0);
    nowMs += 1000;
    await expect(keys.authenticate(secret)).rejects.toEqual(refused);
  });

  it('is forgotten after a change here, and others are not', async () => {
    const keys = serviceOf();
    const [one, two] = [await keys.create(PLAIN), await keys.create(PLAIN)];
    await Promise.all([keys.authenticate(one.secret), keys.authenticate(two.secret)]);
    await keys.update(one.key.id, { models: ['kev'] }, 'key_other');
    expect(await keys.authenticate(one.secret)).toMatchObject({ models: ['kev'] });
    await keys.authenticate(two.secret);
    expect(store.lookups).toBe(3);
  });
});

describe('while the store fails', () => {
  it('nobody is let in, and nothing of it is kept', async () => {
    const keys = serviceOf();
    const { secret } = await keys.create(PLAIN);
    await keys.authenticate(secret);
    store.isDown = true;
    nowMs += 1000;
    await expect(keys.authenticate(secret)).rejects.toThrow(StoreUnavailableError);
    await expect(keys.authenticate(secret)).rejects.toThrow(StoreUnavailableError);
    store.isDown = false;
    await expect(keys.authenticate(secret)).resolves.toBeDefined();
  });

  it('known keys are let in for ten minutes where the configuration says so', async () => {
    const keys = serviceOf({ servesStale: true });
    const known = await keys.create({ ...PLAIN, expiresAtMs: nowMs + 300_000 });
    const other = await keys.create(PLAIN);
    await keys.authenticate(known.secret);
    store.isDown = true;
    nowMs += 1000;
    await expect(keys.authenticate(known.secret)).resolves.toMatchObject({ id: known.key.id });
    await expect(keys.authenticate(other.secret)).rejects.toThrow(StoreUnavailableError);
    nowMs += 299_000;
    await expect(keys.authenticate(known.secret)).rejects.toEqual(refused);
  });

  it('but no longer', async () => {
    const keys = serviceOf({ servesStale: true });
    const { secret } = await keys.create(PLAIN);
    await keys.authenticate(secret);
    store.isDown = true;
    nowMs += 599_999;
    await expect(keys.authenticate(secret)).resolves.toBeDefined();
    nowMs += 1;
    await expect(keys.authenticate(secret)).rejects.toThrow(StoreUnavailableError);
  });

  it('they do not wait for it to fail again, and it is back as soon as it answers', async () => {
    const keys = serviceOf({ servesStale: true });
    const { key, secret } = await keys.create(PLAIN);
    await keys.authenticate(secret);
    store.isDown = true;
    nowMs += 1000;
    await keys.authenticate(secret);
    store.isDown = false;
    const held: (() => void)[] = [];
    store.held = held;
    await expect(keys.authenticate(secret)).resolves.toBeDefined();
    expect(held).toHaveLength(1);
    store.held = undefined;
    for (const release of held) release();
    await serviceOf().revoke(key.id, 'key_other');
    nowMs += 1000;
    await expect(keys.authenticate(secret)).rejects.toEqual(refused);
  });

  it('a key that was revoked here before stays out', async () => {
    const keys = serviceOf({ servesStale: true });
    const { key, secret } = await keys.create(PLAIN);
    await keys.authenticate(secret);
    await keys.revoke(key.id, 'key_other');
    store.isDown = true;
    await expect(keys.authenticate(secret)).rejects.toThrow(StoreUnavailableError);
  });
});

describe('a flood of well-formed guesses', () => {
  const secretsOfOthers = async (count: number): Promise<string[]> => {
    const others = new ApiKeyService({ store: new MemoryKeyStore() });
    return await Promise.all(Array.from({ length: count }, async () => (await others.create(PLAIN)).secret));
  };
  const addressOf = (guess: number): string => `203.0.113.${guess % 100}`;
  const limited = expect.objectContaining({ code: 'rate_limit_exceeded', retryAfterMs: 1000 });
  const overloaded = expect.objectContaining({ code: 'overloaded', retryAfterMs: 1000 });
  const limitedOrOverloaded = expect.objectContaining({
    code: expect.stringMatching(/^(rate_limit_exceeded|overloaded)$/),
  });
  const codesOf = (ended: readonly PromiseSettledResult<unknown>[]) =>
    Object.groupBy(ended, (end) => (end.status === 'rejected' ? end.reason.code : 'passed'));

  it('from one address reaches the store a bounded number of times a second', async () => {
    const keys = serviceOf();
    const guesses = await secretsOfOthers(3 * MAX_OF_ADDRESS);
    const ended = await Promise.allSettled(guesses.map((secret) => keys.authenticate(secret, '203.0.113.7')));
    expect(store.lookups).toBe(MAX_OF_ADDRESS);
    expect(codesOf(ended)['invalid_api_key']).toHaveLength(MAX_OF_ADDRESS);
    expect(codesOf(ended)['rate_limit_exceeded']).toHaveLength(2 * MAX_OF_ADDRESS);
    const [guess = ''] = await secretsOfOthers(1);
    await expect(keys.authenticate(guess, '203.0.113.7')).rejects.toEqual(limited);
    await expect(keys.authenticate(guess, '203.0.113.8')).rejects.toEqual(refused);
    nowMs += 1000;
    await expect(keys.authenticate(guess, '203.0.113.7')).rejects.toEqual(refused);
  });

  it('from many addresses reaches it no more often than so', async () => {
    const keys = serviceOf();
    const guesses = await secretsOfOthers(2 * MAX_STRANGERS);
    const ended = await Promise.allSettled(guesses.map((secret, i) => keys.authenticate(secret, addressOf(i))));
    expect(store.lookups).toBe(MAX_STRANGERS);
    expect(codesOf(ended)['overloaded']).toHaveLength(MAX_STRANGERS);
    const [guess = ''] = await secretsOfOthers(1);
    await expect(keys.authenticate(guess, '203.0.113.200')).rejects.toEqual(overloaded);
  });

  it('never keeps out a key that exists, wherever it comes from', async () => {
    const keys = serviceOf();
    const known = await keys.create(PLAIN);
    const elsewhere = serviceOf();
    const fresh = await Promise.all(Array.from({ length: 20 }, () => elsewhere.create(PLAIN)));
    await keys.authenticate(known.secret);
    const guesses = await secretsOfOthers(2 * MAX_STRANGERS);
    await Promise.allSettled(guesses.map((secret, i) => keys.authenticate(secret, addressOf(i))));
    await expect(keys.authenticate(known.secret, addressOf(1))).resolves.toBeDefined();
    for (const { key, secret } of fresh) {
      await expect(keys.authenticate(secret, addressOf(1))).resolves.toMatchObject({ id: key.id });
    }
    expect(store.listings).toBe(1);
  });

  it('keeps out a key that was made since for a second at most', async () => {
    const keys = serviceOf();
    const flood = async (): Promise<void> => {
      const guesses = await secretsOfOthers(MAX_STRANGERS + 50);
      await Promise.allSettled(guesses.map((secret, i) => keys.authenticate(secret, addressOf(i))));
    };
    await flood();
    const { secret, key } = await serviceOf().create(PLAIN);
    const revoked = await serviceOf().create(PLAIN);
    await serviceOf().revoke(revoked.key.id, 'key_other');
    await expect(keys.authenticate(secret, addressOf(1))).rejects.toEqual(limitedOrOverloaded);
    nowMs += 1000;
    await flood();
    await expect(keys.authenticate(secret, addressOf(1))).resolves.toMatchObject({ id: key.id });
    await expect(keys.authenticate(revoked.secret, addressOf(1))).rejects.toEqual(refused);
  });

  it('knows of more keys than it reads at once', async () => {
    const [keys, elsewhere] = [serviceOf(), serviceOf()];
    const created = await Promise.all(Array.from({ length: 12_000 }, () => elsewhere.create(PLAIN)));
    const guesses = await secretsOfOthers(MAX_OF_ADDRESS);
    await Promise.allSettled(guesses.map((secret) => keys.authenticate(secret, 'here')));
    for (const { secret } of created.filter((_, i) => i % 400 === 0)) {
      await expect(keys.authenticate(secret, 'here')).resolves.toBeDefined();
    }
    expect(store.listings).toBe(3);
  });

  it('is told from many clients who come at once with keys of their own', async () => {
    const keys = serviceOf();
    const elsewhere = serviceOf();
    const clients = await Promise.all(Array.from({ length: MAX_STRANGERS }, () => elsewhere.create(PLAIN)));
    for (let i = 0; i < 3; i++) await Promise.all(clients.map(({ secret }) => keys.authenticate(secret)));
    const more = await Promise.all(Array.from({ length: MAX_STRANGERS }, () => keys.create(PLAIN)));
    await Promise.all(more.map(({ secret }) => keys.authenticate(secret)));
    expect(store.lookups).toBe(2 * MAX_STRANGERS);
  });
});
