// What `umpire usage` and `umpire requests` ask of the services, and what they print. Over doubles of the stores;
// test/process has the real ones.

import { describe, expect, it } from 'vitest';
import type { LedgerRow } from '../../src/domain/ledger.ts';
import type { UsageDimension, UsageFilter, UsageGroup } from '../../src/domain/usage-report.ts';
import { KEY, NOON_MS, runOverStores } from './program-double.ts';

const NO_AMOUNT = { inputTokens: 0n, cachedTokens: 0n, outputTokens: 0n, reasoningTokens: 0n };

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
    const out = await runOverStores(['usage', ...args], { usage: { sum }, keys: { list: async () => [KEY] } });
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
    upstream: null,
    upstreamFailures: null,
  };
  const usage = { rows: async () => [row, { ...row, id: 'r0' }] };

  it('shows as many rows as are asked for', async () => {
    const out = await runOverStores(['requests', '--limit', '1'], { usage });
    expect(out.split('\n')).toHaveLength(3);
    expect(out).toMatch(
      /^2026-11-21T12:00:00\.000Z +key_a +kev +\/ai\/v1\/systemone +completed +200 +34 +0 +12 +0\.0000012852$/m,
    );
  });

  it('has all of a row in JSON', async () => {
    expect(JSON.parse(await runOverStores(['requests', '--json'], { usage }))[0]).toMatchObject({
      request_id: 'seen-by-the-client',
      error_code: null,
      estimated: false,
      cost_usd: '0.0000012852',
    });
  });

  it('says so when there are none', async () => {
    expect(await runOverStores(['requests'], { usage: { rows: async () => [] } })).toBe('No requests in this time.\n');
  });
});
