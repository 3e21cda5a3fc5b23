import { describe, expect, it } from 'vitest';
import { costHeaders, formatReset, standingHeaders } from './accounting-headers.ts';

describe('the time until a limit is free again', () => {
  it.each([
    [-5, '0ms'],
    [0, '0ms'],
    [0.2, '1ms'],
    [120, '120ms'],
    [999.5, '1s'],
    [1000, '1s'],
    [8640, '8.64s'],
    [59_999, '59.999s'],
    [60_000, '1m0s'],
    [360_000, '6m0s'],
    [61_250, '1m1.25s'],
    [3_600_000, '1h0m0s'],
    [90_061_000, '25h1m1s'],
  ])('%d ms is %s', (ms, text) => expect(formatReset(ms)).toBe(text));
});

describe('headers of a standing', () => {
  it('are absent where there is no limit', () => {
    expect(standingHeaders({ budget: null, requests: null, tokens: null, concurrent: null })).toEqual({});
  });

  it('tell every limit there is', () => {
    expect(
      standingHeaders({
        budget: { amountPicoUsd: 2_000_000_000_000n, remainingPicoUsd: 1n, resetsAtMs: null },
        requests: { limit: 60, remaining: 59, resetMs: 1000 },
        tokens: { limit: 1000, remaining: 0, resetMs: 60_000 },
        concurrent: { limit: 4, remaining: 3 },
      }),
    ).toEqual({
      'x-umpire-budget-remaining-usd': '0.000000000001',
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1m0s',
      'x-ratelimit-limit-concurrent': '4',
      'x-ratelimit-remaining-concurrent': '3',
    });
  });
});

it('a cost is exact decimal dollars', () => {
  expect(costHeaders(4_762_800n)).toEqual({ 'x-umpire-cost-usd': '0.0000047628' });
  expect(costHeaders(0n)).toEqual({ 'x-umpire-cost-usd': '0' });
});
