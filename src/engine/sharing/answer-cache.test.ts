import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerCache } from './answer-cache.ts';

/** Room for two values of this size, with what an entry costs beside it. */
const VALUE_BYTES = 600;
const MAX_BYTES = 2000;

function open(ttlMs = 1000): AnswerCache<string> {
  return new AnswerCache({ maxBytes: MAX_BYTES, ttlMs });
}

function keep(cache: AnswerCache<string>, key: string, nowMs: number, valueBytes = VALUE_BYTES): void {
  cache.keep(key, { value: `value of ${key}`, valueBytes, nowMs });
}

describe('an answer cache', () => {
  it('gives what was kept, and nothing else', () => {
    const cache = open();
    keep(cache, 'a', 0);
    expect(cache.find('a', 1)).toBe('value of a');
    expect(cache.find('b', 1)).toBeUndefined();
  });

  it('drops the one that was used longest ago when there is no room', () => {
    const cache = open();
    keep(cache, 'a', 0);
    keep(cache, 'b', 0);
    cache.find('a', 1);
    keep(cache, 'c', 2);
    expect(['a', 'b', 'c'].map((key) => cache.find(key, 3) !== undefined)).toEqual([true, false, true]);
  });

  it('keeps each for its time from when it came, however often it is used', () => {
    const cache = open(1000);
    keep(cache, 'a', 0);
    keep(cache, 'b', 500);
    expect(cache.find('a', 999)).toBeDefined();
    expect(cache.find('a', 1000)).toBeUndefined();
    expect(cache.find('b', 1000)).toBeDefined();
    expect(cache.bytes(1500)).toBe(0);
  });

  it('keeps nothing that is larger than all of it', () => {
    const cache = open();
    keep(cache, 'a', 0);
    keep(cache, 'b', 0, MAX_BYTES);
    expect(cache.find('a', 0)).toBeDefined();
    expect(cache.find('b', 0)).toBeUndefined();
  });

  it('counts a value once when it is kept again, and then for its whole time', () => {
    const cache = open(1000);
    keep(cache, 'a', 0);
    const bytes = cache.bytes(0);
    keep(cache, 'a', 500);
    expect(cache.bytes(500)).toBe(bytes);
    expect(cache.find('a', 1499)).toBeDefined();
  });

  it('never holds more than its room, and gives only what is in time', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      afterMs: fc.nat(400),
      valueBytes: fc.nat(2500),
      keeps: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const cache = open(1000);
        const keptAtMs = new Map<string, number>();
        let nowMs = 0;
        for (const { key, afterMs, valueBytes, keeps } of steps) {
          nowMs += afterMs;
          if (keeps) {
            keep(cache, key, nowMs, valueBytes);
            keptAtMs.set(key, nowMs);
          } else if (cache.find(key, nowMs) !== undefined) {
            expect(nowMs - (keptAtMs.get(key) ?? Number.NEGATIVE_INFINITY)).toBeLessThan(1000);
          }
          expect(cache.bytes(nowMs)).toBeLessThanOrEqual(MAX_BYTES);
        }
        expect(cache.bytes(nowMs + 1000)).toBe(0);
      }),
    );
  });
});
