// Who may take the scope `admin` from whom: anybody from others, nobody from itself or from everybody.

import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryKeyStore } from '../../../test/services/memory-key-store.ts';
import { COMMAND_LINE } from '../../domain/audit.ts';
import { ApiKeyService, type NewApiKey } from './keys.ts';

const FIXED = 'a-fixed-key-of-the-house';
const PLAIN: NewApiKey = { name: 'plain', models: null, expiresAtMs: null };
const ADMIN: NewApiKey = { ...PLAIN, name: 'admin', scopes: ['admin'] };

let store: MemoryKeyStore;
let nowMs: number;
let keys: ApiKeyService;

beforeEach(() => {
  store = new MemoryKeyStore();
  nowMs = 1_000_000;
  keys = new ApiKeyService({ store, fixedSecret: FIXED, nowMs: () => nowMs });
});

const conflict = expect.objectContaining({ code: 'conflict' });

describe('an administrator', () => {
  const changes: [string, (id: string, actor: string) => Promise<unknown>][] = [
    ['revokes', (id, actor) => keys.revoke(id, actor)],
    ['disables', (id, actor) => keys.update(id, { isDisabled: true }, actor)],
    ['takes the scope from', (id, actor) => keys.update(id, { scopes: ['inference'] }, actor)],
    ['sets an end to', (id, actor) => keys.update(id, { expiresAtMs: nowMs + 1000 }, actor)],
    ['sets a far end to', (id, actor) => keys.update(id, { expiresAtMs: nowMs + 3_600_000 }, actor)],
  ];

  it.each(changes)('neither %s itself', async (_what, change) => {
    const { key } = await keys.create(ADMIN);
    await keys.create(ADMIN);
    await expect(change(key.id, key.id)).rejects.toEqual(conflict);
    expect(await keys.get(key.id)).toEqual(key);
  });

  it.each(changes)('nor %s the last one there is, unless the configuration has a key', async (_what, change) => {
    const { key } = await keys.create(ADMIN);
    await keys.create(PLAIN);
    const { key: disabled } = await keys.create(ADMIN);
    await keys.update(disabled.id, { isDisabled: true }, COMMAND_LINE);
    const others = new ApiKeyService({ store, nowMs: () => nowMs });
    const fixed = keys;
    keys = others;
    await expect(change(key.id, disabled.id)).rejects.toEqual(conflict);
    keys = fixed;
    await expect(change(key.id, 'key_configured')).resolves.toBeDefined();
  });

  it('does not bring forward the time at which nobody administers any more', async () => {
    keys = new ApiKeyService({ store, nowMs: () => nowMs });
    const [one, two] = [(await keys.create(ADMIN)).key, (await keys.create(ADMIN)).key];
    await expect(keys.update(two.id, { expiresAtMs: nowMs + 60_000 }, one.id)).resolves.toBeDefined();
    await expect(keys.update(one.id, { expiresAtMs: nowMs + 90_000 }, two.id)).rejects.toEqual(conflict);
    await expect(keys.update(two.id, { expiresAtMs: nowMs + 30_000 }, one.id)).resolves.toBeDefined();
    // Later, or never: that takes nothing from anybody.
    await expect(keys.update(two.id, { expiresAtMs: nowMs + 40_000 }, two.id)).resolves.toBeDefined();
    await expect(keys.update(two.id, { expiresAtMs: null }, two.id)).resolves.toBeDefined();
    await expect(keys.update(one.id, { expiresAtMs: nowMs + 90_000 }, two.id)).resolves.toBeDefined();
    await expect(keys.update(two.id, { expiresAtMs: nowMs + 90_000 }, COMMAND_LINE)).resolves.toBeDefined();
  });

  it('does not race another: of two that revoke each other one stays', async () => {
    keys = new ApiKeyService({ store, nowMs: () => nowMs });
    const [one, two] = [(await keys.create(ADMIN)).key, (await keys.create(ADMIN)).key];
    const ended = await Promise.allSettled([keys.revoke(one.id, two.id), keys.revoke(two.id, one.id)]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('may lock out whom it likes besides, and the command line everybody', async () => {
    keys = new ApiKeyService({ store, nowMs: () => nowMs });
    const [one, two] = [(await keys.create(ADMIN)).key, (await keys.create(ADMIN)).key];
    await expect(keys.revoke(two.id, one.id)).resolves.toBeDefined();
    await expect(keys.update(one.id, { name: 'me', scopes: ['admin', 'inference'] }, one.id)).resolves.toBeDefined();
    await expect(keys.revoke(one.id, COMMAND_LINE)).resolves.toBeDefined();
  });
});
