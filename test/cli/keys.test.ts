// What `umpire keys …` asks of the services, and what it prints. Over doubles of the stores;
// test/process has the real ones.

import { describe, expect, it } from 'vitest';
import { NO_LIMITS } from '../../src/domain/api-key.ts';
import { KEY, NOON_MS, runOverStores, type StoreDoubles } from './program-double.ts';

describe('umpire keys', () => {
  it('create asks for all that the options say', async () => {
    const seen: unknown[] = [];
    const insert = async (...given: unknown[]): Promise<void> => {
      seen.push(...given);
    };
    const scopes = ['--scope', 'admin', '--scope', 'inference', '--scope', 'admin'];
    const models = ['--model', 'gpt-*', '--models', 'kev,text-embed-mini'];
    const budget = ['--budget', '0.000000000001', '--reset', 'day'];
    const limits = ['--requests-per-minute', '600', '--tokens-per-minute', '100000', '--concurrent', 'none'];
    const args = ['keys', 'create', '--name', 'x', ...scopes, ...models, ...budget, ...limits, '--json'];
    const printed = JSON.parse(await runOverStores(args, { keys: { insert } }));
    expect(seen[0]).toMatchObject({
      scopes: ['admin', 'inference'],
      models: ['gpt-*', 'kev', 'text-embed-mini'],
      budget: { amountPicoUsd: 1n, reset: 'day' },
      limits: { requestsPerMinute: 600, tokensPerMinute: 100_000, concurrentRequests: null },
      createdBy: 'command line',
    });
    expect(seen[2]).toMatchObject({ actor: 'command line', action: 'key.create' });
    expect(printed).toMatchObject({
      budget: { amount_usd: '0.000000000001', reset: 'day' },
      limits: { requests_per_minute: 600, tokens_per_minute: 100_000, concurrent_requests: null },
    });
    expect(printed.key).toMatch(/^ump_/);
    expect(JSON.stringify(seen, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
      printed.key,
    );
  });

  it.each([
    [['--budget', '20'], { budget: { amountPicoUsd: 20_000_000_000_000n, reset: 'month' } }],
    [['--reset', 'none'], { budget: { amountPicoUsd: 12_500_000_000_000n, reset: 'none' } }],
    [['--budget', 'none'], { budget: null }],
    [['--models', 'all', '--expires', 'never'], { models: null, expiresAtMs: null }],
    [['--concurrent', '8'], { limits: { requestsPerMinute: 600, tokensPerMinute: null, concurrentRequests: 8 } }],
    [['--requests-per-minute', 'none'], { limits: NO_LIMITS }],
    [['--name', ' shop '], { name: 'shop' }],
  ])('update %o changes that and nothing else', async (options, expected) => {
    const changes: unknown[] = [];
    const keys: StoreDoubles['keys'] = {
      findById: async () => KEY,
      update: async (_id, change) => {
        changes.push(change);
        return KEY;
      },
    };
    expect(await runOverStores(['keys', 'update', 'key_a', ...options], { keys })).toBe('Updated key_a.\n');
    expect(changes).toEqual([expected]);
  });

  const shown: StoreDoubles = {
    keys: { findById: async () => KEY },
    ledger: {
      standing: async () => ({
        standing: {
          budget: {
            amountPicoUsd: 12_500_000_000_000n,
            remainingPicoUsd: 12_499_999_999_998n,
            resetsAtMs: Date.UTC(2026, 11),
          },
          requests: null,
          tokens: null,
          concurrent: null,
        },
        spentPicoUsd: 1n,
        reservedPicoUsd: 1n,
        limit: null,
      }),
    },
  };

  it('show prints what a key may do and what it has left, a line for each', async () => {
    const out = await runOverStores(['keys', 'show', 'key_a'], shown);
    expect(out).toMatch(/^models +kev, gpt-\*$/m);
    expect(out).toMatch(/^budget +\$12\.5 a month$/m);
    expect(out).toMatch(/^ {2}spent +\$0\.000000000001$/m);
    expect(out).toMatch(/^ {2}left +\$12\.499999999998$/m);
    expect(out).toMatch(/^ {2}starts anew +2026-12-01T00:00:00\.000Z$/m);
    expect(out).toMatch(/^requests a minute +600\ntokens a minute +no limit$/m);
    expect(JSON.parse(await runOverStores(['keys', 'show', 'key_a', '--json'], shown)).budget).toEqual({
      amount_usd: '12.5',
      reset: 'month',
      spent_usd: '0.000000000001',
      reserved_usd: '0.000000000001',
      remaining_usd: '12.499999999998',
      resets_at: '2026-12-01T00:00:00.000Z',
    });
  });

  it('rotate prints the new secret and when the older ones end', async () => {
    const rotations: unknown[] = [];
    const keys: StoreDoubles['keys'] = {
      findById: async () => KEY,
      rotate: async (_id, { overlapEndsAtMs, audit: { actor } }) => {
        rotations.push({ overlapEndsAtMs, actor });
        return KEY;
      },
    };
    const out = await runOverStores(['keys', 'rotate', 'key_a', '--overlap', '2h'], { keys });
    expect(out).toMatch(
      /^Rotated key_a\. Older secrets work until 2026-11-21T14:00:00\.000Z\. It is shown only now:\n\n {2}ump_\w{38}\n\n$/,
    );
    expect(rotations).toEqual([{ overlapEndsAtMs: NOON_MS + 7_200_000, actor: 'command line' }]);
  });

  it('list says of each whether it works', async () => {
    const list = async () => [
      KEY,
      { ...KEY, id: 'key_b', disabledAtMs: 1 },
      { ...KEY, id: 'key_c', expiresAtMs: 1 },
      { ...KEY, id: 'key_d', revokedAtMs: 1, disabledAtMs: 1 },
    ];
    const states = (await runOverStores(['keys', 'list'], { keys: { list } }))
      .split('\n')
      .map((line) => line.split(/ +/).at(-1));
    expect(states).toEqual(['STATE', 'active', 'disabled', 'expired', 'revoked', '']);
  });
});
