// Keys from creation to revocation, over a store in memory and a clock moved by hand.

import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryKeyStore } from '../../../test/services/memory-key-store.ts';
import { NO_LIMITS } from '../../domain/api-key.ts';
import { COMMAND_LINE } from '../../domain/audit.ts';
import { isWellFormedSecret } from './key-secret.ts';
import { ApiKeyService, type KeyPatch, type NewApiKey } from './keys.ts';

const FIXED = 'a-fixed-key-of-the-house';
const PLAIN: NewApiKey = { name: 'plain', models: null, expiresAtMs: null };

let store: MemoryKeyStore;
let nowMs: number;
let keys: ApiKeyService;

beforeEach(() => {
  store = new MemoryKeyStore();
  nowMs = 1_000_000;
  keys = new ApiKeyService({ store, fixedSecret: FIXED, nowMs: () => nowMs });
});

const refused = expect.objectContaining({ code: 'invalid_api_key', message: 'The API key is not valid.' });
const conflict = expect.objectContaining({ code: 'conflict' });
const notFound = expect.objectContaining({ code: 'not_found' });
const invalid = (param: string) => expect.objectContaining({ code: 'invalid_request', param });

describe('a created key', () => {
  it('is recognised, with what it may do and without its hash', async () => {
    const { key, secret } = await keys.create({ ...PLAIN, models: ['kev'] }, 'key_1');
    expect(await keys.authenticate(secret)).toEqual(key);
    expect(key).toMatchObject({
      models: ['kev'],
      scopes: ['inference'],
      budget: null,
      limits: NO_LIMITS,
      createdBy: 'key_1',
      revokedAtMs: null,
    });
    expect(secret.startsWith(key.visiblePrefix)).toBe(true);
    expect(key.visiblePrefix).toMatch(/^ump_.{4}$/);
  });

  it('is kept as a hash only', async () => {
    const { key, secret } = await keys.create(PLAIN);
    await keys.rotate(key.id, COMMAND_LINE);
    expect(JSON.stringify([store.stored, store.audit])).not.toContain(secret.slice(8));
    expect(JSON.stringify(await keys.list())).not.toContain('hash');
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

  it('stops at once when revoked here', async () => {
    const { key, secret } = await keys.create(PLAIN);
    await keys.authenticate(secret);
    expect(await keys.revoke(key.id, COMMAND_LINE)).toMatchObject({ revokedAtMs: nowMs });
    await expect(keys.authenticate(secret)).rejects.toEqual(refused);
    nowMs += 5;
    expect(await keys.revoke(key.id, COMMAND_LINE)).toMatchObject({ revokedAtMs: nowMs - 5 });
    expect(store.audit.map(({ action }) => action)).toEqual(['key.create', 'key.revoke']);
  });

  it('is not taken at its old word by a look-up that was under way when it was revoked', async () => {
    const { key, secret } = await keys.create(PLAIN);
    store.held = [];
    const early = keys.authenticate(secret);
    const [release] = store.held;
    store.held = undefined;
    await keys.revoke(key.id, COMMAND_LINE);
    release?.();
    await early;
    await expect(keys.authenticate(secret)).rejects.toEqual(refused);
  });

  it('can be disabled and enabled, and remembers since when', async () => {
    const { key, secret } = await keys.create(PLAIN);
    await keys.update(key.id, { isDisabled: true }, COMMAND_LINE);
    await expect(keys.authenticate(secret)).rejects.toEqual(refused);
    nowMs += 10;
    expect(await keys.update(key.id, { isDisabled: true }, COMMAND_LINE)).toMatchObject({ disabledAtMs: nowMs - 10 });
    expect(await keys.update(key.id, { isDisabled: false }, COMMAND_LINE)).toMatchObject({ disabledAtMs: null });
    await expect(keys.authenticate(secret)).resolves.toMatchObject({ id: key.id });
  });

  it('tells its state', async () => {
    const { key } = await keys.create({ ...PLAIN, expiresAtMs: nowMs + 1 });
    expect(keys.stateOf(key)).toBe('active');
    expect(keys.stateOf({ ...key, disabledAtMs: 1 })).toBe('disabled');
    nowMs += 1;
    expect(keys.stateOf({ ...key, disabledAtMs: 1 })).toBe('expired');
    expect(keys.stateOf({ ...key, revokedAtMs: 1 })).toBe('revoked');
  });
});

describe('the fields of a key', () => {
  it('are kept as they should be: trimmed, every scope once', async () => {
    const { key } = await keys.create({ ...PLAIN, name: '  Zoë’s key 🔑 ', scopes: ['admin', 'inference', 'admin'] });
    expect(key).toMatchObject({ name: 'Zoë’s key 🔑', scopes: ['admin', 'inference'] });
  });

  it.each<[string, KeyPatch]>([
    ['name', { name: '  ' }],
    ['name', { name: 'x'.repeat(201) }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: 'a\u001b[31mb' }],
    ['name', { name: 'a\u2028b' }],
    ['name', { name: 'a\u202eb' }],
    ['name', { name: 'a\ud800b' }],
    ['scopes', { scopes: [] }],
    ['models[1]', { models: ['kev', ''] }],
    ['models[0]', { models: ['x'.repeat(257)] }],
    ['models[0]', { models: ['a\nb'] }],
    ['models', { models: Array.from({ length: 1001 }, () => 'kev') }],
    ['budget.amount_usd', { budget: { amountPicoUsd: -1n, reset: 'none' } }],
    ['budget.amount_usd', { budget: { amountPicoUsd: 10n ** 18n + 1n, reset: 'none' } }],
    ['limits.requests_per_minute', { limits: { requestsPerMinute: 0 } }],
    ['limits.tokens_per_minute', { limits: { tokensPerMinute: 1.5 } }],
    ['limits.concurrent_requests', { limits: { concurrentRequests: 1_000_000_001 } }],
    ['expires_at', { expiresAtMs: 1_000_000 }],
    ['expires_at', { expiresAtMs: 253_402_300_800_000 }],
    ['expires_at', { expiresAtMs: Number.NaN }],
  ])('refuse a wrong %s (case %#)', async (param, fields) => {
    await expect(keys.create({ ...PLAIN, ...fields })).rejects.toEqual(invalid(param));
    const { key } = await keys.create(PLAIN);
    await expect(keys.update(key.id, fields, COMMAND_LINE)).rejects.toEqual(invalid(param));
    expect(await keys.get(key.id)).toEqual(key);
  });

  it('change one by one, limits too, also at the same time', async () => {
    const limits = { requestsPerMinute: 5, tokensPerMinute: 6, concurrentRequests: 7 };
    const { key } = await keys.create({ ...PLAIN, limits });
    await Promise.all([
      keys.update(key.id, { limits: { requestsPerMinute: null } }, COMMAND_LINE),
      keys.update(key.id, { limits: { tokensPerMinute: 60 }, name: 'other' }, COMMAND_LINE),
    ]);
    expect(await keys.get(key.id)).toEqual({
      ...key,
      name: 'other',
      limits: { requestsPerMinute: null, tokensPerMinute: 60, concurrentRequests: 7 },
    });
  });

  it('are told to the audit trail, but for the name', async () => {
    const { key } = await keys.create({ ...PLAIN, budget: { amountPicoUsd: 5n * 10n ** 11n, reset: 'day' } }, 'key_9');
    await keys.update(key.id, { name: 'a name', budget: null, expiresAtMs: nowMs + 1 }, COMMAND_LINE);
    expect(store.audit).toEqual([
      {
        atMs: nowMs,
        actor: 'key_9',
        action: 'key.create',
        target: key.id,
        details: {
          scopes: ['inference'],
          models: null,
          budget: { amount_usd: '0.5', reset: 'day' },
          limits: { requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null },
          expires_at: null,
        },
      },
      {
        atMs: nowMs,
        actor: COMMAND_LINE,
        action: 'key.update',
        target: key.id,
        details: { name: 'changed', budget: null, expires_at: new Date(nowMs + 1).toISOString() },
      },
    ]);
  });
});

describe('a rotation', () => {
  it('gives a new secret and lets the old one work for a day', async () => {
    const { key, secret: old } = await keys.create(PLAIN);
    await keys.authenticate(old);
    const rotated = await keys.rotate(key.id, COMMAND_LINE);
    expect(rotated.overlapEndsAtMs).toBe(nowMs + 86_400_000);
    expect(rotated.key).toMatchObject({ id: key.id, visiblePrefix: rotated.secret.slice(0, 8) });
    await expect(keys.authenticate(rotated.secret)).resolves.toMatchObject({ id: key.id });
    nowMs += 86_399_999;
    await expect(keys.authenticate(old)).resolves.toMatchObject({ id: key.id });
    nowMs += 1;
    await expect(keys.authenticate(old)).rejects.toEqual(refused);
    await expect(keys.authenticate(rotated.secret)).resolves.toMatchObject({ id: key.id });
  });

  it('without overlap ends the old secrets at once', async () => {
    const { key, secret: oldest } = await keys.create(PLAIN);
    const { secret: older } = await keys.rotate(key.id, COMMAND_LINE);
    await Promise.all([keys.authenticate(oldest), keys.authenticate(older)]);
    const { secret } = await keys.rotate(key.id, COMMAND_LINE, 0);
    await expect(keys.authenticate(oldest)).rejects.toEqual(refused);
    await expect(keys.authenticate(older)).rejects.toEqual(refused);
    await expect(keys.authenticate(secret)).resolves.toMatchObject({ id: key.id });
  });

  it.each([-1, 0.5, Number.NaN, 30 * 86_400_000 + 1])('refuses an overlap of %d ms', async (overlapMs) => {
    const { key } = await keys.create(PLAIN);
    await expect(keys.rotate(key.id, COMMAND_LINE, overlapMs)).rejects.toEqual(invalid('overlap_seconds'));
  });

  it('is not for a revoked key, nor is any other change', async () => {
    const { key } = await keys.create(PLAIN);
    await keys.revoke(key.id, COMMAND_LINE);
    await expect(keys.rotate(key.id, COMMAND_LINE)).rejects.toEqual(conflict);
    await expect(keys.update(key.id, { isDisabled: false }, COMMAND_LINE)).rejects.toEqual(conflict);
  });
});

describe('an id', () => {
  it.each(['key_0000000000000000', '', 'key_', "key_'; DROP TABLE api_keys; --", '__proto__', 'key_\u0000'])(
    '%j that no key has is not found',
    async (id) => {
      await expect(keys.get(id)).rejects.toEqual(notFound);
      await expect(keys.update(id, {}, COMMAND_LINE)).rejects.toEqual(notFound);
      await expect(keys.rotate(id, COMMAND_LINE)).rejects.toEqual(notFound);
      await expect(keys.revoke(id, COMMAND_LINE)).rejects.toEqual(notFound);
    },
  );
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
    store.stored.push(...elsewhere.stored);
    await expect(keys.authenticate(secret)).resolves.toBeDefined();
  });
});

describe('the key of the configuration', () => {
  it('is taken as given, with all models and scopes, and is not in the list', async () => {
    expect(await keys.authenticate(FIXED)).toMatchObject({ models: null, scopes: ['inference', 'admin'] });
    expect(await keys.list()).toEqual([]);
    expect(store.lookups).toBe(0);
  });

  it('is shown, but changed in the configuration alone', async () => {
    expect(await keys.get('key_configured')).toMatchObject({ name: 'from the configuration' });
    await expect(keys.revoke('key_configured', COMMAND_LINE)).rejects.toEqual(conflict);
    await expect(keys.update('key_configured', { isDisabled: true }, COMMAND_LINE)).rejects.toEqual(conflict);
    await expect(keys.rotate('key_configured', COMMAND_LINE)).rejects.toEqual(conflict);
    await expect(new ApiKeyService({ store }).get('key_configured')).rejects.toEqual(notFound);
  });

  it('counts as a key', async () => {
    expect(await keys.hasNoKeys()).toBe(false);
    expect(await new ApiKeyService({ store }).hasNoKeys()).toBe(true);
  });
});

describe('the list', () => {
  it('comes whole or in pages', async () => {
    for (const name of ['a', 'b', 'c']) await keys.create({ ...PLAIN, name });
    const all = await keys.list();
    expect(all.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(await keys.list({ after: all[0]?.id, limit: 1 })).toEqual([all[1]]);
  });
});
