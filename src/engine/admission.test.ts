import { describe, expect, it } from 'vitest';
import { expectedWaitMs, findRefusal, type QueueLoad } from './admission.ts';

const idle: QueueLoad = { jobs: 0, costMs: 0, keyJobs: 0, keyCostMs: 0, aheadMs: 0, workerBusyMs: [0, 0] };
const limits = { maxJobs: 10, maxCostMs: 1000, deadlineMs: 500 };

describe('admission', () => {
  it('takes anything on an idle engine, however long it will run', () => {
    expect(findRefusal(idle, 60_000, limits)).toBeUndefined();
  });

  it('waits for the first worker that is free when nothing is ahead', () => {
    expect(expectedWaitMs({ ...idle, workerBusyMs: [300, 80] })).toBe(80);
  });

  it('shares what is ahead between the workers', () => {
    expect(expectedWaitMs({ ...idle, aheadMs: 600, workerBusyMs: [300, 100] })).toBe(500);
  });

  it('refuses what cannot begin in time and says when the queue will be worked off', () => {
    const load = { ...idle, jobs: 3, costMs: 900, aheadMs: 900, workerBusyMs: [200, 100] };
    expect(findRefusal(load, 10, limits)).toEqual({ reason: 'deadline', retryAfterMs: 600 });
  });

  it('does not refuse on an estimate alone while hardly anything waits', () => {
    const load = { ...idle, jobs: 1, costMs: 9000, aheadMs: 9000, workerBusyMs: [9000, 9000] };
    expect(findRefusal(load, 10, { ...limits, maxCostMs: 60_000 })).toBeUndefined();
  });

  it('refuses when too many calls wait', () => {
    expect(findRefusal({ ...idle, jobs: 10, costMs: 10 }, 1, limits)?.reason).toBe('jobs');
  });

  it('refuses when too much work waits, but never the only call', () => {
    expect(findRefusal({ ...idle, jobs: 1, costMs: 800 }, 300, limits)?.reason).toBe('cost');
    expect(findRefusal(idle, 1300, limits)).toBeUndefined();
  });

  it('keeps half of the queue for other keys', () => {
    const load = { ...idle, jobs: 5, costMs: 100, keyJobs: 5, keyCostMs: 100 };
    expect(findRefusal(load, 1, limits)?.reason).toBe('jobs');
    expect(findRefusal({ ...load, keyJobs: 0, keyCostMs: 0 }, 1, limits)).toBeUndefined();
  });

  it('never says to come back at once', () => {
    expect(findRefusal({ ...idle, jobs: 10, costMs: 1 }, 1, limits)?.retryAfterMs).toBe(100);
  });
});
