import { beforeEach, describe, expect, it } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';

let nowMs: number;
let changes: boolean[];
let breaker: CircuitBreaker;

beforeEach(() => {
  nowMs = 1000;
  changes = [];
  breaker = new CircuitBreaker({
    failures: 3,
    pauseMs: 100,
    nowMs: () => nowMs,
    onChange: (isOpen) => changes.push(isOpen),
  });
});

function fail(times: number, retryAfterMs?: number): void {
  for (let time = 0; time < times; time++) breaker.begin().failed(retryAfterMs);
}

describe('a breaker', () => {
  it('opens after so many failures one after the other, and not before', () => {
    fail(2);
    breaker.begin().succeeded();
    fail(2);
    expect(breaker.takesCalls).toBe(true);
    fail(1);
    expect(breaker).toMatchObject({ takesCalls: false, isOpen: true });
    expect(changes).toEqual([true]);
  });

  it('lets one call try after its pause, and closes when that succeeds', () => {
    fail(3);
    nowMs += 99;
    expect(breaker.takesCalls).toBe(false);
    nowMs += 1;
    expect(breaker.takesCalls).toBe(true);
    const trial = breaker.begin();
    expect(breaker.takesCalls).toBe(false);
    trial.succeeded();
    expect(breaker).toMatchObject({ takesCalls: true, isOpen: false });
    expect(changes).toEqual([true, false]);
    // And it begins to count anew.
    fail(2);
    expect(breaker.isOpen).toBe(false);
  });

  it('pauses again when the trial fails, without saying so again', () => {
    fail(3);
    nowMs += 100;
    breaker.begin().failed();
    expect(breaker.takesCalls).toBe(false);
    nowMs += 100;
    expect(breaker.takesCalls).toBe(true);
    expect(changes).toEqual([true]);
  });

  it('lets the next call try where a trial ended without a word about the place', () => {
    fail(3);
    nowMs += 100;
    breaker.begin().ended();
    expect(breaker.takesCalls).toBe(true);
  });

  it('pauses as long as the place itself asks for, up to five minutes', () => {
    fail(2);
    fail(1, 5000);
    nowMs += 4999;
    expect(breaker.takesCalls).toBe(false);
    nowMs += 1;
    breaker.begin().failed(3_600_000);
    nowMs += 300_000;
    expect(breaker.takesCalls).toBe(true);
  });

  it('learns nothing from calls that began before it opened', () => {
    const [early, late] = [breaker.begin(), breaker.begin()];
    fail(3);
    early.succeeded();
    expect(breaker.isOpen).toBe(true);
    nowMs += 100;
    breaker.begin().succeeded();
    late.failed();
    fail(2);
    expect(breaker.isOpen).toBe(false);
  });

  it('takes the first ending of a call alone', () => {
    fail(2);
    const call = breaker.begin();
    call.ended();
    call.failed();
    expect(breaker.isOpen).toBe(false);
  });
});
