import { describe, expect, it } from 'vitest';
import { RequestTally } from './request-tally.ts';

const MINUTE_MS = 60_000;

function tallyAt(startMs: number) {
  const clock = { nowMs: startMs };
  const tally = new RequestTally(() => clock.nowMs);
  const fail = (): void => {
    tally.started();
    tally.ended('overloaded');
  };
  return { clock, tally, fail };
}

describe('a tally of requests', () => {
  it('knows how many are under way', () => {
    const { tally } = tallyAt(0);
    tally.started();
    tally.started();
    tally.ended(null);
    expect([tally.underWay, tally.errors()]).toEqual([1, []]);
  });

  it('counts errors by code, the most frequent first', () => {
    const { tally, fail } = tallyAt(0);
    tally.started();
    tally.ended('invalid_api_key');
    fail();
    fail();
    expect(tally.errors().map(({ code, sinceStart }) => [code, sinceStart])).toEqual([
      ['overloaded', 2],
      ['invalid_api_key', 1],
    ]);
  });

  it.each([0, 59 * MINUTE_MS, 12_345_678])(
    'has an hour of minutes, the one that runs last, from %i ms on',
    (startMs) => {
      const { clock, tally, fail } = tallyAt(startMs);
      fail();
      clock.nowMs += 2 * MINUTE_MS;
      fail();
      fail();
      const [counted] = tally.errors();
      expect(counted?.byMinute).toEqual([...new Array<number>(57).fill(0), 1, 0, 2]);
    },
  );

  it.each([
    ['just within the hour', 59, 1],
    ['just beyond it', 60, 0],
    ['after a long sleep', 100_000, 0],
  ])('forgets what is older than an hour: %s', (_name, minutes, last) => {
    const { clock, tally, fail } = tallyAt(0);
    fail();
    clock.nowMs += minutes * MINUTE_MS;
    const [counted] = tally.errors();
    expect(counted?.byMinute.reduce((sum, count) => sum + count, 0)).toBe(last);
    expect([counted?.sinceStart, counted?.byMinute.length]).toEqual([1, 60]);
  });
});
