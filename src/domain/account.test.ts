// The policy of accounts: periods, budgets, limits, and what a request leaves behind; by hand and by properties.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Account, admit, newAccount, periodEndMs, periodStartMs, release, settle, standingOf } from './account.ts';
import { NO_LIMITS } from './api-key.ts';
import type { Demand } from './ledger.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 18, 30, 15, 250);
const FREE: Demand = { costPicoUsd: 0n, tokens: 0, budget: null, limits: NO_LIMITS };
const ACCOUNT = newAccount('key_1');

function admitted(account: Account, demand: Demand, nowMs = NOW_MS): Account {
  const decision = admit(account, demand, nowMs);
  if (decision.type === 'refused') throw new Error(`refused: ${decision.reason}`);
  return decision.account;
}

describe('periods', () => {
  it.each([
    ['none', 0, null],
    ['day', Date.UTC(2026, 10, 21), Date.UTC(2026, 10, 22)],
    ['month', Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)],
  ] as const)('of reset "%s" begin and end in UTC', (reset, startMs, endMs) => {
    expect(periodStartMs(reset, NOW_MS)).toBe(startMs);
    expect(periodEndMs(reset, NOW_MS)).toBe(endMs);
  });

  it('of months end with the year and in leap years', () => {
    expect(periodEndMs('month', Date.UTC(2026, 11, 31, 23, 59))).toBe(Date.UTC(2027, 0, 1));
    expect(periodEndMs('month', Date.UTC(2028, 1, 29))).toBe(Date.UTC(2028, 2, 1));
    expect(periodStartMs('month', Date.UTC(2027, 0, 1) - 1)).toBe(Date.UTC(2026, 11, 1));
  });

  it('begin with their first millisecond', () => {
    fc.assert(
      fc.property(fc.constantFrom('day' as const, 'month' as const), fc.nat(4_000_000_000_000), (reset, nowMs) => {
        const startMs = periodStartMs(reset, nowMs);
        const endMs = periodEndMs(reset, nowMs) ?? 0;
        expect(startMs).toBeLessThanOrEqual(nowMs);
        expect(endMs).toBeGreaterThan(nowMs);
        expect(periodStartMs(reset, endMs)).toBe(endMs);
        expect(periodStartMs(reset, endMs - 1)).toBe(startMs);
      }),
    );
  });
});

describe('a budget', () => {
  const demand: Demand = { ...FREE, costPicoUsd: 10n, budget: { amountPicoUsd: 25n, reset: 'day' } };

  it('lets in what fits to the last pico-dollar, and refuses until it resets', () => {
    const two = admitted(admitted(ACCOUNT, demand), demand);
    expect(standingOf(two, demand, NOW_MS).budget).toEqual({
      amountPicoUsd: 25n,
      remainingPicoUsd: 5n,
      resetsAtMs: Date.UTC(2026, 10, 22),
    });
    const refusal = { type: 'refused', reason: 'budget', retryAfterMs: Date.UTC(2026, 10, 22) - NOW_MS };
    expect(admit(two, demand, NOW_MS)).toEqual(refusal);
    expect(admit(two, { ...demand, costPicoUsd: 5n }, NOW_MS).type).toBe('admitted');
    expect(admit(two, { ...demand, costPicoUsd: 6n }, NOW_MS)).toEqual(refusal);
  });

  it('does not promise that waiting helps where it does not', () => {
    const wait = (budget: Demand['budget']) => admit(ACCOUNT, { ...demand, costPicoUsd: 26n, budget }, NOW_MS);
    expect(wait({ amountPicoUsd: 25n, reset: 'none' })).toMatchObject({ retryAfterMs: null });
    expect(wait({ amountPicoUsd: 25n, reset: 'month' })).toMatchObject({ retryAfterMs: null });
  });

  it('tells no less than nothing as remaining, when a request turned out dearer than it was reserved', () => {
    const opened = { acceptedAtMs: NOW_MS, costPicoUsd: 10n, tokens: 0 };
    const account = settle(admitted(ACCOUNT, demand), opened, { costPicoUsd: 99n, tokens: 0 });
    expect(account).toMatchObject({ spentPicoUsd: 99n, reservedPicoUsd: 0n, inFlight: 0, lastUsedAtMs: NOW_MS });
    expect(standingOf(account, demand, NOW_MS).budget?.remainingPicoUsd).toBe(0n);
  });

  it('counts a request in the period in which it was accepted', () => {
    const opened = { acceptedAtMs: NOW_MS, costPicoUsd: 10n, tokens: 0 };
    const nextDay: Account = { ...ACCOUNT, periodStartMs: Date.UTC(2026, 10, 22), reservedPicoUsd: 7n, inFlight: 2 };
    const settled = settle(nextDay, opened, { costPicoUsd: 10n, tokens: 0 });
    expect(settled).toMatchObject({ spentPicoUsd: 0n, reservedPicoUsd: 7n, inFlight: 1 });
    expect(release(nextDay, opened)).toMatchObject({ spentPicoUsd: 0n, reservedPicoUsd: 7n, inFlight: 1 });
  });
});

describe('limits', () => {
  const limited = (limits: Partial<Demand['limits']>, tokens = 10): Demand => ({
    ...FREE,
    tokens,
    limits: { ...NO_LIMITS, ...limits },
  });

  it('of concurrent requests let in again what has ended', () => {
    const demand = limited({ concurrentRequests: 1 });
    const one = admitted(ACCOUNT, demand);
    expect(admit(one, demand, NOW_MS)).toEqual({ type: 'refused', reason: 'concurrent', retryAfterMs: 1000 });
    expect(standingOf(one, demand, NOW_MS).concurrent).toEqual({ limit: 1, remaining: 0 });
    const opened = { acceptedAtMs: NOW_MS, costPicoUsd: 0n, tokens: 10 };
    expect(admit(release(one, opened), demand, NOW_MS).type).toBe('admitted');
    expect(admit(settle(one, opened, opened), demand, NOW_MS).type).toBe('admitted');
  });

  it('of 0 refuse for good', () => {
    for (const name of ['concurrentRequests', 'requestsPerMinute', 'tokensPerMinute'] as const)
      expect(admit(ACCOUNT, limited({ [name]: 0 }), NOW_MS)).toMatchObject({ type: 'refused', retryAfterMs: null });
  });

  it('name the one that takes longest', () => {
    const demand = limited({ requestsPerMinute: 1, tokensPerMinute: 15, concurrentRequests: 1 });
    const one = admitted(ACCOUNT, demand);
    // 44.75 s until the next minute, then until the one request, or 5 of the 10 tokens, have left it.
    expect(admit(one, demand, NOW_MS)).toEqual({ type: 'refused', reason: 'requests', retryAfterMs: 44_750 + 60_000 });
    expect(admit(one, limited({ tokensPerMinute: 15, concurrentRequests: 1 }), NOW_MS)).toEqual({
      type: 'refused',
      reason: 'tokens',
      retryAfterMs: 44_750 + 30_000,
    });
    expect(admit(one, limited({ tokensPerMinute: 5 }), NOW_MS)).toMatchObject({ reason: 'tokens', retryAfterMs: null });
  });

  it('count the tokens that a request turned out to use', () => {
    const demand = limited({ tokensPerMinute: 100 });
    const opened = { acceptedAtMs: NOW_MS, costPicoUsd: 0n, tokens: 10 };
    const account = settle(admitted(ACCOUNT, demand), opened, { costPicoUsd: 0n, tokens: 64 });
    expect(standingOf(account, demand, NOW_MS).tokens).toEqual({ limit: 100, remaining: 36, resetMs: 104_750 });
  });

  it('are not told where there are none', () => {
    expect(standingOf(ACCOUNT, FREE, NOW_MS)).toEqual({ budget: null, requests: null, tokens: null, concurrent: null });
  });
});

describe('properties of accounts', () => {
  const demands = fc.record({
    costPicoUsd: fc.bigInt({ min: 0n, max: 2n ** 62n }),
    tokens: fc.nat(50),
    afterMs: fc.nat(20_000),
    /** Which of the running requests ends then, if any; and whether it is settled. */
    ends: fc.option(fc.record({ index: fc.nat(5), isSettled: fc.boolean(), share: fc.integer({ min: 0, max: 4 }) })),
  });
  const limits = fc.record({
    requestsPerMinute: fc.option(fc.integer({ min: 1, max: 10 })),
    tokensPerMinute: fc.option(fc.integer({ min: 1, max: 200 })),
    concurrentRequests: fc.option(fc.integer({ min: 1, max: 5 })),
  });

  it('what is spent and reserved is never over the budget, and always the sum of what happened', () => {
    fc.assert(
      fc.property(
        fc.array(demands, { maxLength: 80 }),
        limits,
        fc.bigInt({ min: 0n, max: 2n ** 64n }),
        (steps, keyLimits, amountPicoUsd) => {
          const budget = { amountPicoUsd, reset: 'none' } as const;
          let account = ACCOUNT;
          let nowMs = NOW_MS;
          let spent = 0n;
          const running: { acceptedAtMs: number; costPicoUsd: bigint; tokens: number }[] = [];
          for (const { costPicoUsd, tokens, afterMs, ends } of steps) {
            nowMs += afterMs;
            const decision = admit(account, { costPicoUsd, tokens, budget, limits: keyLimits }, nowMs);
            if (decision.type === 'admitted') {
              account = decision.account;
              running.push({ acceptedAtMs: nowMs, costPicoUsd, tokens });
            }
            const [ended] = ends === null ? [] : running.splice(ends.index, 1);
            if (ended !== undefined && ends !== null) {
              const cost = (ended.costPicoUsd * BigInt(ends.share)) / 4n;
              if (ends.isSettled) spent += cost;
              const closed = { costPicoUsd: cost, tokens: ended.tokens };
              account = ends.isSettled ? settle(account, ended, closed) : release(account, ended);
            }
            expect(account.spentPicoUsd).toBe(spent);
            expect(account.reservedPicoUsd).toBe(running.reduce((sum, one) => sum + one.costPicoUsd, 0n));
            expect(account.inFlight).toBe(running.length);
            expect(spent + account.reservedPicoUsd <= amountPicoUsd).toBe(true);
            expect(running.length).toBeLessThanOrEqual(keyLimits.concurrentRequests ?? Number.POSITIVE_INFINITY);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('Retry-After of rate limits is true: refused one millisecond before, let in at it', () => {
    fc.assert(
      fc.property(
        fc.array(demands, { minLength: 5, maxLength: 40 }),
        limits.map((all) => ({ ...all, concurrentRequests: null })),
        (steps, keyLimits) => {
          let account = ACCOUNT;
          let nowMs = NOW_MS;
          for (const { tokens, afterMs } of steps) {
            nowMs += Math.floor(afterMs / 20);
            const demand = { ...FREE, tokens, limits: keyLimits };
            const decision = admit(account, demand, nowMs);
            if (decision.type === 'admitted') account = decision.account;
            else if (decision.retryAfterMs !== null) {
              const atMs = nowMs + decision.retryAfterMs;
              expect(admit(account, demand, atMs - 1).type).toBe('refused');
              expect(admit(account, demand, atMs).type).toBe('admitted');
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
