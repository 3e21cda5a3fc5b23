// What the commands of keys, prices, usage and audit ask of the services, and what they print. Store doubles;
// test/process has the real ones.

import { describe, expect, it } from 'vitest';
import type { Program } from '../../src/cli/program.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import { type ApiKey, NO_LIMITS } from '../../src/domain/api-key.ts';
import type { LedgerRow } from '../../src/domain/ledger.ts';
import type { UsageDimension, UsageFilter, UsageGroup } from '../../src/domain/usage-report.ts';
import { program, type StoreDoubles, servicesOver } from './program-double.ts';

const NOON_MS = Date.UTC(2026, 10, 21, 12);
const NO_AMOUNT = { inputTokens: 0n, cachedTokens: 0n, outputTokens: 0n, reasoningTokens: 0n };

const KEY: ApiKey = {
  id: 'key_a',
  name: 'billing',
  visiblePrefix: 'ump_Ab3d',
  models: ['kev', 'gpt-*'],
  scopes: ['inference'],
  budget: { amountPicoUsd: 12_500_000_000_000n, reset: 'month' },
  limits: { ...NO_LIMITS, requestsPerMinute: 600 },
  createdAtMs: NOON_MS,
  createdBy: 'command line',
  expiresAtMs: null,
  disabledAtMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
};

async function run(args: readonly string[], stores: StoreDoubles, parts: Partial<Program> = {}) {
  const { whole, said } = program({
    withServices: (_flags, use) => use(servicesOver(stores, () => NOON_MS)),
    ...parts,
  });
  const code = await runCommand(args, whole);
  expect(said.error).toBe('');
  expect(code).toBe(0);
  return said.out;
}

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
    const printed = JSON.parse(await run(args, { keys: { insert } }));
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
    expect(await run(['keys', 'update', 'key_a', ...options], { keys })).toBe('Updated key_a.\n');
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
    const out = await run(['keys', 'show', 'key_a'], shown);
    expect(out).toMatch(/^models +kev, gpt-\*$/m);
    expect(out).toMatch(/^budget +\$12\.5 a month$/m);
    expect(out).toMatch(/^ {2}spent +\$0\.000000000001$/m);
    expect(out).toMatch(/^ {2}left +\$12\.499999999998$/m);
    expect(out).toMatch(/^ {2}starts anew +2026-12-01T00:00:00\.000Z$/m);
    expect(out).toMatch(/^requests a minute +600\ntokens a minute +no limit$/m);
    expect(JSON.parse(await run(['keys', 'show', 'key_a', '--json'], shown)).budget).toEqual({
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
    const out = await run(['keys', 'rotate', 'key_a', '--overlap', '2h'], { keys });
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
    const states = (await run(['keys', 'list'], { keys: { list } })).split('\n').map((line) => line.split(/ +/).at(-1));
    expect(states).toEqual(['STATE', 'active', 'disabled', 'expired', 'revoked', '']);
  });
});

describe('umpire prices', () => {
  const price = { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 };
  const dated = { modelId: 'kev', effectiveFromMs: NOON_MS, price, createdAtMs: NOON_MS, createdBy: 'command line' };

  it('set writes micro-dollars per million tokens, cached input as input', async () => {
    const seen: unknown[] = [];
    const prices: StoreDoubles['prices'] = {
      insert: async (wanted) => {
        seen.push(wanted);
        return true;
      },
      list: async () => [],
    };
    const out = await run(['prices', 'set', 'kev', '--input', '0.0378', '--output', '0'], { prices });
    expect(seen).toEqual([dated]);
    expect(out).toBe('Set the price of kev from 2026-11-21T12:00:00.000Z on.\n');
  });

  const listModels = async () => [
    { id: 'kev', type: 'decision' as const, description: '', source: 'models/kev', price },
    { id: 'my-chat', type: 'llm' as const, description: '', source: 'local', price: { ...price, outputMicroUsd: 1 } },
  ];
  const later = { ...dated, effectiveFromMs: NOON_MS + 1, price: { ...price, inputMicroUsd: 50_000 } };
  const other = { ...dated, modelId: 'gone' };
  const prices = { list: async () => [other, dated, later] };

  it('list shows what holds now, in dollars per million tokens', async () => {
    const out = await run(['prices', 'list'], { prices }, { listModels });
    expect(out).toBe(
      [
        'MODEL    INPUT   CACHED  OUTPUT    SOURCE  FROM',
        'kev      0.0378  0.0378  0         set     2026-11-21T12:00:00.000Z',
        'my-chat  0.0378  0.0378  0.000001  own     –',
        'gone     0.0378  0.0378  0         set     2026-11-21T12:00:00.000Z',
        '',
      ].join('\n'),
    );
    expect(JSON.parse(await run(['prices', 'list', '--json'], { prices }, { listModels }))[1]).toEqual({
      model: 'my-chat',
      input_usd: '0.0378',
      cached_input_usd: '0.0378',
      output_usd: '0.000001',
      source: 'own',
      effective_from: null,
    });
  });

  it('list --history shows what was set, the latest first', async () => {
    const out = await run(['prices', 'list', '--history', '--csv'], { prices });
    expect(out.split('\r\n')).toEqual([
      'model,input_usd,cached_input_usd,output_usd,effective_from,created_at,created_by',
      'kev,0.05,0.0378,0,2026-11-21T12:00:00.001Z,2026-11-21T12:00:00.000Z,command line',
      'kev,0.0378,0.0378,0,2026-11-21T12:00:00.000Z,2026-11-21T12:00:00.000Z,command line',
      'gone,0.0378,0.0378,0,2026-11-21T12:00:00.000Z,2026-11-21T12:00:00.000Z,command line',
      '',
    ]);
  });
});

describe('umpire usage', () => {
  const group: UsageGroup = { ...NO_AMOUNT, keyId: 'key_a', requests: 3, inputTokens: 102n, costPicoUsd: 3_855_600n };
  const gone: UsageGroup = { ...NO_AMOUNT, keyId: 'key_configured', requests: 1, costPicoUsd: 0n };

  async function usage(args: readonly string[]) {
    const asked: { filter: UsageFilter; by: readonly UsageDimension[] }[] = [];
    const sum = async (filter: UsageFilter, by: readonly UsageDimension[]) => {
      asked.push({ filter, by });
      return by.length === 0
        ? [{ ...NO_AMOUNT, requests: 4, inputTokens: 102n, costPicoUsd: 3_855_600n }]
        : [group, gone];
    };
    const out = await run(['usage', ...args], { usage: { sum }, keys: { list: async () => [KEY] } });
    return { out, asked };
  }

  it('has a line for each group, with the name of the key and an exact cost', async () => {
    const { out, asked } = await usage(['--by', 'key', '--from', '2026-11-01', '--to', '2026-12-01']);
    const filter = { fromMs: Date.UTC(2026, 10), toMs: Date.UTC(2026, 11) };
    expect(asked).toEqual([
      { filter, by: ['key'] },
      { filter, by: [] },
    ]);
    const [heading, first, second, all] = out.split('\n');
    expect(heading).toBe('KEY             NAME     REQUESTS  INPUT  CACHED  OUTPUT  REASONING  COST USD');
    expect(first).toBe('key_a           billing         3    102       0       0          0  0.0000038556');
    expect(second).toBe('key_configured  –               1      0       0       0          0  0');
    expect(all).toBe('all                             4    102       0       0          0  0.0000038556');
  });

  it('gives the same in JSON and CSV', async () => {
    const by = ['--by', 'key', '--from', '2026-11-01'];
    expect(JSON.parse((await usage([...by, '--json'])).out)[0]).toEqual({
      key: 'key_a',
      key_name: 'billing',
      requests: 3,
      input_tokens: 102,
      cached_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
      cost_usd: '0.0000038556',
      cost_pico_usd: '3855600',
    });
    expect((await usage([...by, '--csv'])).out.split('\r\n')[1]).toBe('key_a,billing,3,102,0,0,0,0.0000038556,3855600');
  });

  it('narrows to a key, a model and a path', async () => {
    const { asked } = await usage([
      '--key',
      'key_a',
      '--model',
      'kev',
      '--endpoint',
      '/ai/v1/systemone',
      '--from',
      '1d',
    ]);
    expect(asked[0]?.filter).toMatchObject({ keyId: 'key_a', modelId: 'kev', endpoint: '/ai/v1/systemone' });
    expect(asked[0]?.by).toEqual([]);
  });
});

describe('umpire requests', () => {
  const row: LedgerRow = {
    id: 'r1',
    requestId: 'seen-by-the-client',
    keyId: 'key_a',
    modelId: 'kev',
    endpoint: '/ai/v1/systemone',
    isStreamed: false,
    acceptedAtMs: NOON_MS,
    price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 },
    end: 'completed',
    status: 200,
    errorCode: null,
    usage: { inputTokens: 34, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    isEstimated: false,
    costPicoUsd: 1_285_200n,
    durationMs: 12,
    waitMs: 1,
  };
  const usage = { rows: async () => [row, { ...row, id: 'r0' }] };

  it('shows as many rows as are asked for', async () => {
    const out = await run(['requests', '--limit', '1'], { usage });
    expect(out.split('\n')).toHaveLength(3);
    expect(out).toMatch(
      /^2026-11-21T12:00:00\.000Z +key_a +kev +\/ai\/v1\/systemone +completed +200 +34 +0 +12 +0\.0000012852$/m,
    );
  });

  it('has all of a row in JSON', async () => {
    expect(JSON.parse(await run(['requests', '--json'], { usage }))[0]).toMatchObject({
      request_id: 'seen-by-the-client',
      error_code: null,
      estimated: false,
      cost_usd: '0.0000012852',
    });
  });

  it('says so when there are none', async () => {
    expect(await run(['requests'], { usage: { rows: async () => [] } })).toBe('No requests in this time.\n');
  });
});

describe('umpire audit', () => {
  const record = { id: 7, atMs: NOON_MS, actor: 'command line', action: 'key.update', target: 'key_a' };
  const list = async () => [{ ...record, details: { name: 'changed', odd: '\u009b2J' } }];

  it('shows who did what, and lets nothing steer the terminal', async () => {
    const out = await run(['audit'], { audit: { list } });
    expect(out).toMatch(
      /^2026-11-21T12:00:00\.000Z +command line +key\.update +key_a +\{"name":"changed","odd":" 2J"\}$/m,
    );
  });

  it('keeps the details an object in JSON', async () => {
    expect(JSON.parse(await run(['audit', '--json'], { audit: { list } }))[0]).toMatchObject({
      id: 7,
      details: { name: 'changed' },
    });
  });
});
