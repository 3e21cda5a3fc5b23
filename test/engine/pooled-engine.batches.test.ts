// What shared runs bring, in simulation: a device whose runs take a + b · tokens, one after the other, under more load than it could
// bear one call at a time. Goodput, patience and fairness as figures.

import { describe, expect, it } from 'vitest';
import { RandomSource } from '../models/random-source.ts';
import { FIXED_MS, openOnDevice, TOKEN_MS } from './device-pool.ts';
import { ManualClock } from './manual-clock.ts';
import { settle } from './manual-pool.ts';
import { simulatedJob } from './simulated-engine.ts';

const RUN_TOKENS = 8192;

interface Crowd {
  readonly keyId: string;
  readonly perSecond: number;
  readonly deadlineMs?: number;
  /** Of each that leaves, after so long; undefined: nobody does. */
  readonly leavesAfterMs?: number;
}

async function offer(exact: boolean, crowds: readonly Crowd[], seconds = 4) {
  const clock = new ManualClock();
  const random = new RandomSource(5);
  const { pool, engine } = await openOnDevice(clock, { tokens: RUN_TOKENS, exact });
  const tookMs = new Map<string, number[]>(crowds.map(({ keyId }) => [keyId, []]));
  const [late, lost] = [[] as number[], [] as unknown[]];
  const open = new Set<Promise<void>>();
  for (const { keyId, perSecond, deadlineMs, leavesAfterMs } of crowds) {
    for (let atMs = 0; atMs < seconds * 1000; atMs += 1000 / perSecond) {
      clock.after(atMs, () => {
        const leaver = new AbortController();
        const caller = { keyId, signal: leaver.signal, ...(deadlineMs !== undefined && { deadlineMs }) };
        const job = simulatedJob(20 + Math.floor(random.next() ** 2 * 230));
        const cancel =
          leavesAfterMs === undefined ? undefined : clock.after(leavesAfterMs, () => leaver.abort(new Error('gone')));
        const startedMs = clock.nowMs();
        const end = engine
          .ticketFor(job, caller)
          .run()
          .then(
            () => {
              cancel?.();
              const ms = clock.nowMs() - startedMs;
              tookMs.get(keyId)?.push(ms);
              if (deadlineMs !== undefined && ms > deadlineMs) late.push(ms);
            },
            (error: unknown) => void lost.push(error),
          );
        open.add(end);
      });
    }
  }
  while (clock.nowMs() < seconds * 1000 || clock.timerCount > 0) {
    clock.advance((clock.nextTimerMs ?? clock.nowMs() + 1) - clock.nowMs());
    await settle();
  }
  await Promise.all(open);
  const figuresOf = (keyId: string) => {
    const sorted = (tookMs.get(keyId) ?? []).sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
    return { perSecond: sorted.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
  };
  return { figuresOf, late, lost, runs: pool.runs, status: engine.status() };
}

describe('shared runs of a device', () => {
  it('answer several times as many calls a second as runs of their own, within their deadlines', async () => {
    const crowd = [{ keyId: 'a', perSecond: 1200, deadlineMs: 100 }];
    const [alone, shared] = [await offer(true, crowd, 2), await offer(false, crowd, 2)];
    const [one, many] = [alone.figuresOf('a'), shared.figuresOf('a')];
    // One by one, a run of 4.3 ms: some 230 a second.
    expect(one.perSecond).toBeLessThan(260);
    expect(many.perSecond).toBeGreaterThan(1100);
    expect(many.p99Ms).toBeLessThan(60);
    expect(shared.late).toEqual([]);
    expect(shared.runs).toBeLessThan(600);
  });

  it('cost a caller who is alone nothing: an idle device waits for nobody', async () => {
    const { figuresOf } = await offer(false, [{ keyId: 'a', perSecond: 20 }]);
    expect(figuresOf('a').p99Ms).toBeLessThan(FIXED_MS + TOKEN_MS * 300);
  });

  it('are fair: a key that asks little hardly feels one that asks for more than the device can do', async () => {
    const little = { keyId: 'little', perSecond: 100, deadlineMs: 200 };
    const flood = { keyId: 'flood', perSecond: 4000, deadlineMs: 400 };
    const { figuresOf, late } = await offer(false, [flood, little], 1);
    expect(figuresOf('little').perSecond).toBeGreaterThan(98);
    // Three batches of some 30 ms may be before it, and its own.
    expect(figuresOf('little').p99Ms).toBeLessThan(120);
    expect(figuresOf('flood').perSecond).toBeGreaterThan(1500);
    expect(late.length).toBeLessThan(0.01 * figuresOf('flood').perSecond);
  });

  it('lose nothing where callers leave: everybody has an answer, or what they left with', async () => {
    const { figuresOf, lost, status } = await offer(false, [
      { keyId: 'stays', perSecond: 500 },
      { keyId: 'leaves', perSecond: 500, leavesAfterMs: 3 },
    ]);
    expect(figuresOf('stays').perSecond).toBe(500);
    expect(4 * figuresOf('leaves').perSecond + lost.length).toBe(2000);
    expect(lost.every((error) => error instanceof Error && error.message === 'gone')).toBe(true);
    expect(status).toMatchObject({ queuedJobs: 0, busyWorkers: 0 });
  });
});
