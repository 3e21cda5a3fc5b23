import { describe, expect, it } from 'vitest';
import { expectedDrainMs, expectedWaitMs, findRefusal, type QueueLoad } from './admission.ts';

const idle: QueueLoad = {
  jobs: 0,
  keyJobs: 0,
  keyCostsMs: [],
  otherCostsMs: [],
  otherKeys: 0,
  ahead: { ownMs: [], othersMs: 0 },
  workerBusyMs: [0, 0],
  overtaking: 0,
  overtakenForMs: 1000,
  drainRate: 1,
};
const limits = { maxJobs: 10, maxCostMs: 1000, deadlineMs: 500 };
type Asked = Parameters<typeof findRefusal>[1];
const costing = (costMs: number, deadlineMs?: number): Asked => ({ costMs, durationMs: costMs, deadlineMs });
const reasonFor = (load: Partial<QueueLoad>, asked: Asked) => findRefusal({ ...idle, ...load }, asked, limits)?.reason;

describe('expected wait', () => {
  it('is until the first worker is free when nothing is ahead', () => {
    expect(expectedWaitMs({ ...idle, workerBusyMs: [300, 80] })).toBe(80);
  });

  it('shares the work of others between the workers', () => {
    expect(expectedWaitMs({ ...idle, ahead: { ownMs: [], othersMs: 600 }, workerBusyMs: [300, 100] })).toBe(400);
  });

  it('gives every call that is ahead one worker', () => {
    const ahead = (ownMs: number[]) => expectedWaitMs({ ...idle, ahead: { ownMs, othersMs: 0 } });
    expect(ahead([50, 50, 50, 50])).toBe(100);
    // A document holds one worker, and the other is free.
    expect(ahead([800])).toBe(0);
    expect(ahead([30, 800])).toBe(30);
  });

  it('is longer where estimates are too low, and where later calls go before', () => {
    const busy = { ...idle, workerBusyMs: [100, 100] };
    expect(expectedWaitMs({ ...busy, drainRate: 0.5 })).toBe(200);
    expect(expectedWaitMs({ ...busy, overtaking: 0.75 })).toBe(400);
    expect(expectedWaitMs({ ...busy, overtaking: 0.75, overtakenForMs: 200 })).toBe(250);
  });
});

describe('admission', () => {
  it('takes anything on an idle engine, however long it will run', () => {
    expect(findRefusal(idle, costing(60_000), limits)).toBeUndefined();
  });

  it('refuses what cannot begin in time and says when it could', () => {
    const load = { ...idle, jobs: 3, ahead: { ownMs: [], othersMs: 900 }, workerBusyMs: [200, 100] };
    expect(findRefusal(load, costing(10), limits)).toEqual({ reason: 'wait', retryAfterMs: 550 });
  });

  it('does not refuse on an estimate alone while hardly anything waits', () => {
    const load = { ...idle, jobs: 1, otherCostsMs: [9000], otherKeys: 1, workerBusyMs: [9000, 9000] };
    expect(findRefusal(load, costing(10), { ...limits, maxCostMs: 60_000 })).toBeUndefined();
  });

  it('refuses when too many calls wait', () => {
    expect(reasonFor({ jobs: 10 }, costing(1))).toBe('jobs');
  });

  it('refuses when too much work of a key waits, but never its first call', () => {
    expect(reasonFor({ jobs: 3, keyCostsMs: [200, 200] }, costing(90))).toBeUndefined();
    expect(reasonFor({ jobs: 3, keyCostsMs: [200, 200] }, costing(110))).toBe('cost');
    expect(reasonFor({}, costing(1300))).toBeUndefined();
    expect(reasonFor({ jobs: 1, otherCostsMs: [800], otherKeys: 1 }, costing(300))).toBeUndefined();
  });

  it('counts one call for a quarter of the queue at most, whatever it costs', () => {
    expect(reasonFor({ keyCostsMs: [90_000] }, costing(240))).toBeUndefined();
    expect(reasonFor({ keyCostsMs: [90_000] }, costing(90_000))).toBeUndefined();
    expect(reasonFor({ keyCostsMs: [90_000, 90_000] }, costing(1))).toBe('cost');
  });

  it('leaves each key a part, however much others have waiting', () => {
    const others = (keys: number) => ({ otherCostsMs: Array.from({ length: keys }, () => 90_000), otherKeys: keys });
    expect(reasonFor({ ...others(1), keyCostsMs: [200, 100] }, costing(70))).toBeUndefined();
    expect(reasonFor({ ...others(1), keyCostsMs: [200, 100] }, costing(80))).toBe('cost');
    expect(reasonFor({ ...others(8), keyCostsMs: [50] }, costing(49))).toBeUndefined();
    expect(reasonFor({ ...others(8), keyCostsMs: [50] }, costing(51))).toBe('cost');
    expect(reasonFor(others(100), costing(90_000))).toBeUndefined();
  });

  it('says when its own key will have made room, the shortest of its calls first', () => {
    const retryAfterMs = (keyCostsMs: number[], costMs: number) =>
      findRefusal({ ...idle, jobs: 3, keyCostsMs }, costing(costMs), limits)?.retryAfterMs;
    expect(retryAfterMs([200, 200, 200], 300)).toBe(175);
    // Both have a worker, and neither counts for less before it is nearly done.
    expect(retryAfterMs([9000, 9000], 1)).toBeGreaterThan(8750);
    expect(retryAfterMs([9000, 9000], 1)).toBeLessThan(8770);
    expect(retryAfterMs([250, 9000], 200)).toBeGreaterThanOrEqual(200);
    expect(retryAfterMs([250, 9000], 200)).toBeLessThan(211);
  });

  it('keeps half of the queue for other keys', () => {
    const load = { jobs: 5, keyJobs: 5, keyCostsMs: [20, 20, 20, 20, 20] };
    expect(reasonFor(load, costing(1))).toBe('jobs');
    expect(reasonFor({ ...load, keyJobs: 0, keyCostsMs: [] }, costing(1))).toBeUndefined();
  });

  it('refuses at once what would come after its own deadline, even on an idle engine', () => {
    expect(reasonFor({}, costing(150, 200))).toBeUndefined();
    expect(reasonFor({}, costing(190, 200))).toBe('late');
    expect(reasonFor({ workerBusyMs: [60, 60] }, costing(150, 200))).toBe('late');
  });

  it('counts the workers that would share it', () => {
    expect(reasonFor({}, { costMs: 300, durationMs: 150, deadlineMs: 200 })).toBeUndefined();
  });

  it('never says to come back at once', () => {
    expect(findRefusal({ ...idle, jobs: 10 }, costing(1), limits)?.retryAfterMs).toBe(100);
  });

  it('counts on the measured rate for the time until all is done', () => {
    expect(expectedDrainMs({ costMs: 900, workerBusyMs: [60, 40], drainRate: 0.5 })).toBe(1000);
  });
});
