// The sliding minute, by hand and by properties: never over the limit by its own estimate, and waits that are true to the
// millisecond.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  advance,
  fits,
  type MinuteWindow,
  moveTokens,
  NEW_WINDOW,
  rateStanding,
  waitMs,
  withdraw,
} from './minute-window.ts';

const START_MS = 1_763_700_000_000 - (1_763_700_000_000 % 60_000);
const FULL: MinuteWindow = { startMs: START_MS, requestsNow: 3, requestsBefore: 6, tokensNow: 30, tokensBefore: 60 };

describe('the window', () => {
  it('stays within its minute, moves on by one, and is empty after two', () => {
    expect(advance(FULL, START_MS + 59_999)).toBe(FULL);
    expect(advance(FULL, START_MS + 60_000)).toEqual({
      ...NEW_WINDOW,
      startMs: START_MS + 60_000,
      requestsBefore: 3,
      tokensBefore: 30,
    });
    expect(advance(FULL, START_MS + 120_000)).toEqual({ ...NEW_WINDOW, startMs: START_MS + 120_000 });
  });

  it('stays for a clock that is a little behind, and begins anew for one that is far behind', () => {
    expect(advance(FULL, START_MS - 60_000)).toBe(FULL);
    expect(advance(FULL, START_MS - 60_001)).toEqual({ ...NEW_WINDOW, startMs: START_MS - 120_000 });
  });

  it('counts the share of the minute before that is within 60 seconds', () => {
    const at = (nowMs: number) => rateStanding(FULL, 'requests', { limit: 10, nowMs: START_MS + nowMs }).remaining;
    expect(at(0)).toBe(1); // 10 - 3 - 6
    expect(at(9_999)).toBe(1);
    expect(at(10_000)).toBe(2);
    expect(at(30_000)).toBe(4);
    expect(at(59_999)).toBe(6);
    expect(rateStanding(FULL, 'tokens', { limit: 40, nowMs: START_MS }).remaining).toBe(0);
  });

  it('is all free again when both minutes have passed', () => {
    const limits = { limit: 10, nowMs: START_MS + 20_000 };
    expect(rateStanding(FULL, 'requests', limits).resetMs).toBe(100_000);
    expect(rateStanding({ ...FULL, requestsNow: 0 }, 'requests', limits).resetMs).toBe(40_000);
    expect(rateStanding({ ...NEW_WINDOW, startMs: START_MS }, 'requests', limits).resetMs).toBe(0);
  });

  it('lets in the limit in each minute of the clock, and in 60 seconds across two of them up to twice as many', () => {
    const limit = 60;
    const lateMs = START_MS + 59_999;
    const full = { ...NEW_WINDOW, startMs: START_MS, requestsNow: limit };
    expect(fits(full, 'requests', { limit, amount: 1, nowMs: lateMs })).toBe(false);
    const next = advance(full, lateMs + 59_999);
    expect(rateStanding(next, 'requests', { limit, nowMs: lateMs + 59_999 }).remaining).toBe(limit - 1);
    expect(rateStanding(next, 'requests', { limit, nowMs: lateMs + 1 }).remaining).toBe(0);
  });

  it('never lets in more than the whole limit', () => {
    const window = { ...NEW_WINDOW, startMs: START_MS };
    expect(fits(window, 'tokens', { limit: 10, amount: 10, nowMs: START_MS })).toBe(true);
    expect(fits(window, 'tokens', { limit: 10, amount: 11, nowMs: START_MS })).toBe(false);
    expect(waitMs(window, 'tokens', { limit: 10, amount: 11, nowMs: START_MS })).toBeNull();
  });

  it('corrects tokens in the minute of their request, and not below 0', () => {
    expect(moveTokens(FULL, START_MS + 5, 12)).toEqual({ ...FULL, tokensNow: 42 });
    expect(moveTokens(FULL, START_MS - 5, -70)).toEqual({ ...FULL, tokensBefore: 0 });
    expect(moveTokens(FULL, START_MS - 60_001, 12)).toBe(FULL);
  });

  it('takes a request back from its minute', () => {
    expect(withdraw(FULL, START_MS, 10)).toEqual({ ...FULL, requestsNow: 2, tokensNow: 20 });
    expect(withdraw(FULL, START_MS - 1, 10)).toEqual({ ...FULL, requestsBefore: 5, tokensBefore: 50 });
    expect(withdraw(FULL, START_MS + 60_000, 10)).toBe(FULL);
    expect(withdraw({ ...FULL, requestsNow: 0 }, START_MS, 0).requestsNow).toBe(0);
  });
});

const windows = fc.record({
  startMs: fc.constant(START_MS),
  requestsNow: fc.nat(50),
  requestsBefore: fc.nat(50),
  tokensNow: fc.nat(100_000),
  tokensBefore: fc.nat(100_000),
});
const units = fc.constantFrom('requests' as const, 'tokens' as const);

describe('properties of the window', () => {
  it('a wait is true: refused one millisecond before its end, let in at it', () => {
    fc.assert(
      fc.property(
        windows,
        units,
        fc.integer({ min: -60_000, max: 59_999 }),
        fc.nat(100_000),
        fc.integer({ min: 1, max: 1000 }),
        (window, unit, offsetMs, limit, amount) => {
          const nowMs = START_MS + offsetMs;
          fc.pre(!fits(window, unit, { limit, amount, nowMs }));
          const waited = waitMs(window, unit, { limit, amount, nowMs });
          if (waited === null) return amount > limit;
          const passes = (atMs: number) => fits(advance(window, atMs), unit, { limit, amount, nowMs: atMs });
          return waited > 0 && passes(nowMs + waited) && !passes(nowMs + waited - 1);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('what is told as remaining fits, and one more does not', () => {
    fc.assert(
      fc.property(windows, units, fc.nat(59_999), fc.nat(200_000), (window, unit, offsetMs, limit) => {
        const nowMs = START_MS + offsetMs;
        const { remaining } = rateStanding(window, unit, { limit, nowMs });
        const goes = (amount: number) => fits(window, unit, { limit, amount, nowMs });
        return (remaining === 0 || goes(remaining)) && !goes(remaining + 1);
      }),
      { numRuns: 1000 },
    );
  });

  it('is never over its limit, whatever comes when', () => {
    const arrivals = fc.array(fc.record({ afterMs: fc.nat(40_000), amount: fc.integer({ min: 1, max: 30 }) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 60 }), (requests, limit) => {
        let nowMs = START_MS;
        let window = NEW_WINDOW;
        for (const { afterMs, amount } of requests) {
          nowMs += afterMs;
          window = advance(window, nowMs);
          if (fits(window, 'tokens', { limit, amount, nowMs }))
            window = { ...window, tokensNow: window.tokensNow + amount };
          const share = (60_000 - (nowMs - window.startMs)) / 60_000;
          if (window.tokensNow + window.tokensBefore * share > limit + 1e-9) return false;
        }
        return true;
      }),
      { numRuns: 500 },
    );
  });
});
