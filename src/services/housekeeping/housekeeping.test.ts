// Housekeeping under a clock that is moved by hand, over stores that keep a list of what they were asked.

import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/engine/manual-clock.ts';
import { StoreUnavailableError } from '../../domain/errors.ts';
import { Housekeeping, type HousekeepingOptions } from './housekeeping.ts';

const TIMEOUT_MS = 15_000;
const BEAT_MS = 5000;
const DAY_MS = 86_400_000;
const START_MS = 1000 * DAY_MS;

class RecordingStore {
  readonly calls: string[] = [];
  isAway = false;
  /** Answers of `recover` and `rollUp`; then 0. */
  recovered: number[] = [];
  rolledUp: number[] = [];

  async beat(instanceId: string, nowMs: number): Promise<void> {
    this.#note(`beat ${instanceId} ${nowMs - START_MS}`);
  }

  async leave(instanceId: string): Promise<void> {
    this.#note(`leave ${instanceId}`);
  }

  async recover(deadBeforeMs: number, nowMs: number): Promise<number> {
    this.#note(`recover ${deadBeforeMs - START_MS} ${nowMs - START_MS}`);
    return this.recovered.shift() ?? 0;
  }

  async purgeReplies(nowMs: number): Promise<number> {
    this.#note(`purge ${nowMs - START_MS}`);
    return 3;
  }

  async rollUp(beforeMs: number, limit: number): Promise<number> {
    this.#note(`rollUp ${(START_MS - beforeMs) / DAY_MS} ${limit}`);
    return this.rolledUp.shift() ?? 0;
  }

  #note(call: string): void {
    this.calls.push(call);
    if (this.isAway) throw new StoreUnavailableError('away');
  }
}

let store: RecordingStore;
let clock: ManualClock;
let events: string[];

beforeEach(() => {
  store = new RecordingStore();
  clock = new ManualClock();
  clock.advance(START_MS);
  events = [];
});

function housekeeping(options: Partial<HousekeepingOptions> = {}): Housekeeping {
  return new Housekeeping({
    ledger: store,
    usage: store,
    isShared: true,
    instanceTimeoutMs: TIMEOUT_MS,
    retentionDays: undefined,
    onEvent: ({ level, message, details }) =>
      events.push(`${level} ${message}${details === undefined ? '' : ` ${JSON.stringify(details)}`}`),
    clock,
    ...options,
  });
}

/** Moves on in steps, so that what a timer starts has ended before the next one falls due. */
async function pass(ms: number, stepMs = 1000): Promise<void> {
  await setImmediate();
  for (let left = ms; left > 0; left -= stepMs) {
    clock.advance(Math.min(stepMs, left));
    await setImmediate();
  }
}

/** Since it was last asked. */
function callsOf(name: string): string[] {
  return store.calls.splice(0).filter((call) => call.startsWith(name));
}

describe('signs of life', () => {
  it('are given before the first request and three times per timeout from then on', async () => {
    const keeper = housekeeping();
    await keeper.start();
    expect(callsOf('beat')[0]).toBe(`beat ${keeper.instanceId} 0`);
    await pass(TIMEOUT_MS);
    expect(callsOf('beat')).toEqual([0, 5000, 10_000, 15_000].map((at) => `beat ${keeper.instanceId} ${at}`).slice(1));
    await keeper.stop();
  });

  it('have a name of their own in every process', () => {
    expect(housekeeping().instanceId).not.toBe(housekeeping().instanceId);
  });

  it('are a condition of the start', async () => {
    store.isAway = true;
    await expect(housekeeping().start()).rejects.toThrow(StoreUnavailableError);
    expect(clock.timerCount).toBe(0);
  });

  it('end with a farewell, and no timer is left', async () => {
    const keeper = housekeeping({ retentionDays: 30 });
    await keeper.start();
    await keeper.stop();
    expect(store.calls.at(-1)).toBe(`leave ${keeper.instanceId}`);
    expect(clock.timerCount).toBe(0);
    store.calls.length = 0;
    await pass(2 * TIMEOUT_MS);
    expect(store.calls).toEqual([]);
  });

  it('end quietly when the store cannot be told', async () => {
    const keeper = housekeeping();
    await keeper.start();
    await pass(1);
    store.isAway = true;
    await keeper.stop();
    expect(events).toEqual(['warn the store was not told that this server ends']);
  });
});

describe('requests of dead servers', () => {
  it('are all closed at the start of the only server there is', async () => {
    store.recovered = [7];
    const keeper = housekeeping({ isShared: false });
    await keeper.start();
    expect(store.calls[0]).toBe(`recover ${Number.MAX_SAFE_INTEGER - START_MS} 0`);
    expect(store.calls[1]).toContain('beat');
    expect(events).toEqual(['warn closed requests that a dead server had left open {"rows":7}']);
    await keeper.stop();
  });

  it('are closed by one that has been in touch for the whole timeout', async () => {
    const keeper = housekeeping();
    await keeper.start();
    await pass(TIMEOUT_MS - 1);
    expect(callsOf('recover')).toEqual([]);
    await pass(1);
    expect(callsOf('recover')).toEqual(['recover 0 15000']);
    await pass(BEAT_MS);
    expect(callsOf('recover')).toEqual(['recover 5000 20000']);
    await keeper.stop();
  });

  it('are left alone after an outage, until those who live have had the time to say so', async () => {
    const keeper = housekeeping();
    await keeper.start();
    await pass(TIMEOUT_MS);
    store.isAway = true;
    await pass(BEAT_MS);
    store.isAway = false;
    store.calls.length = 0;
    await pass(BEAT_MS);
    expect(store.calls.filter((call) => !call.startsWith('purge'))).toEqual([`beat ${keeper.instanceId} 25000`]);
    await pass(TIMEOUT_MS - BEAT_MS);
    expect(callsOf('recover')).toEqual([]);
    await pass(BEAT_MS);
    expect(callsOf('recover')).toEqual(['recover 25000 40000']);
    await keeper.stop();
  });

  it('are left alone by a process that was itself suspended', async () => {
    const keeper = housekeeping();
    await keeper.start();
    await pass(TIMEOUT_MS);
    store.calls.length = 0;
    // Timers that fell due meanwhile fire late, all of them at the time of waking.
    await pass(60_000, 60_000);
    await pass(BEAT_MS, BEAT_MS);
    expect(callsOf('recover').filter((call) => Number(call.split(' ')[2]) > 2 * TIMEOUT_MS)).toEqual([]);
    await keeper.stop();
  });
});

describe('failures', () => {
  it('are told once, and their end once', async () => {
    const keeper = housekeeping();
    await keeper.start();
    await pass(1);
    store.isAway = true;
    await pass(50_000);
    expect(events).toEqual(['warn fails and is tried again: sign of life']);
    store.isAway = false;
    await pass(BEAT_MS);
    expect(events.slice(1)).toEqual(['info works again: sign of life']);
    await keeper.stop();
  });
});

describe('replies kept for retries', () => {
  it('are purged at the start and every minute', async () => {
    const keeper = housekeeping();
    await keeper.start();
    await pass(120_000);
    expect(callsOf('purge')).toEqual(['purge 0', 'purge 60000', 'purge 120000']);
    await keeper.stop();
  });
});

describe('old rows', () => {
  it('are kept unless a retention is configured', async () => {
    const keeper = housekeeping();
    await keeper.start();
    await pass(2 * 3_600_000, 60_000);
    expect(callsOf('rollUp')).toEqual([]);
    await keeper.stop();
  });

  it('are rolled up every hour, a portion per transaction until none is left', async () => {
    store.rolledUp = [200, 200, 12];
    const keeper = housekeeping({ retentionDays: 30 });
    await keeper.start();
    await pass(1);
    expect(callsOf('rollUp')).toEqual(['rollUp 30 200', 'rollUp 30 200', 'rollUp 30 200']);
    expect(events).toEqual(['info rolled up old rows {"rows":412}']);
    await pass(3_600_000 - 2, 60_000);
    expect(callsOf('rollUp')).toEqual([]);
    await pass(1);
    expect(callsOf('rollUp')).toHaveLength(1);
    await keeper.stop();
  });

  it('do not hold up the end', async () => {
    store.rolledUp = Array.from({ length: 100 }, () => 200);
    const keeper = housekeeping({ retentionDays: 30 });
    await keeper.start();
    await keeper.stop();
    expect(callsOf('rollUp').length).toBeLessThan(5);
  });
});
