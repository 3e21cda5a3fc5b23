// Requests of an open loop are counted for what became of them, from the moment they were due.

import { describe, expect, it } from 'vitest';
import { type Ending, type Outcome, summariseOutcomes } from '../../../bench/load/goodput.ts';

const ANSWERED: Ending = { kind: 'answered' };

function outcome(waitedMs: number, ending: Ending = ANSWERED, lagMs = 0): Outcome {
  return { group: 'a', plannedMs: 1000, sentMs: 1000 + lagMs, endedMs: 1000 + waitedMs, ending };
}

describe('goodput', () => {
  it('is what was answered within 200 ms, over the time that was planned', () => {
    const figures = summariseOutcomes([outcome(20), outcome(200), outcome(200.1), outcome(900)], 2000);
    expect(figures).toMatchObject({ offered: 4, offeredPerSecond: 2, answered: 4, goodPerSecond: 1, goodShare: 0.5 });
    expect(figures.latency).toMatchObject({ samples: 4, maxMs: 900 });
  });

  it('counts from the planned moment: a client that was late does not hide it', () => {
    const figures = summariseOutcomes([outcome(250, ANSWERED, 100)], 1000);
    expect(figures).toMatchObject({ goodPerSecond: 0, clientLagP99Ms: 100, clientLagMaxMs: 100 });
    expect(figures.latency.p50Ms).toBe(250);
  });

  it('times refusals from sending and from the plan, and never counts them as good', () => {
    const no = { kind: 'refused', retryAfterMs: 40 } as const;
    const silent = { kind: 'refused', retryAfterMs: undefined } as const;
    const figures = summariseOutcomes([outcome(8, no, 3), outcome(4, silent), outcome(50)], 1000);
    expect(figures).toMatchObject({ answered: 1, goodPerSecond: 1, refusedWithRetryAfter: 1 });
    expect(figures.refusedShare).toBeCloseTo(2 / 3, 12);
    expect(figures.refusal).toMatchObject({ samples: 2, maxMs: 5 });
    expect(figures.refusalFromPlan.maxMs).toBe(8);
    expect(figures.latency.samples).toBe(1);
  });

  it('tells apart who gave up and what failed', () => {
    const figures = summariseOutcomes([outcome(10_000, { kind: 'given-up' }), outcome(1, { kind: 'failed' })], 1000);
    expect(figures).toMatchObject({ givenUp: 1, failed: 1, answered: 0, goodPerSecond: 0, refusedShare: 0 });
    expect(figures.latency.p99Ms).toBeNaN();
  });

  it('keeps classes of length apart', () => {
    const figures = summariseOutcomes([outcome(10), { ...outcome(90), group: 'b' }], 1000);
    expect(figures.latencyByGroup).toMatchObject({ a: { samples: 1, p50Ms: 10 }, b: { samples: 1, p50Ms: 90 } });
  });
});
