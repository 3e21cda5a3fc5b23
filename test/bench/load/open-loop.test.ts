// The open loop, against endpoints that count, wait and refuse.

import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { planArrivals, runOpenLoop } from '../../../bench/load/open-loop.ts';
import { decisionJob, type Work } from '../../../bench/load/workload.ts';
import { withServers } from '../../../bench/servers/fleet.ts';
import { nullEndpoint } from '../../../bench/servers/umpire.ts';
import { answer, serve } from './scripted-server.ts';

const WORK: Work = { job: decisionJob({ stateTokens: 4, questions: 1 }), tokens: 7, group: 'short' };
const next = (): Work => WORK;

describe('an open loop', () => {
  const open = { next };

  it('sends at the planned times though nothing was answered yet', async () => {
    const plan = [0, 5, 10, 15, 20];
    // Nobody is answered before all of them are there.
    const all = Promise.withResolvers<void>();
    let arrived = 0;
    const client = await serve(async (request, response) => {
      if (++arrived === plan.length) all.resolve();
      await Promise.all([all.promise, once(request.resume(), 'end')]);
      response.end('{}');
    });
    const { outcomes } = await runOpenLoop({ ...open, client, plan });
    expect(outcomes.map(({ ending }) => ending.kind)).toEqual(plan.map(() => 'answered'));
    const starts = outcomes.map(({ plannedMs }) => plannedMs - (outcomes[0]?.plannedMs ?? 0));
    for (const [index, start] of starts.entries()) expect(start).toBeCloseTo(plan[index] ?? 0, 6);
    expect(outcomes.every(({ plannedMs, sentMs, endedMs }) => plannedMs <= sentMs + 1 && sentMs < endedMs)).toBe(true);
  });

  it('lets refused clients come back once, when they were told to', async () => {
    let asked = 0;
    const client = await serve((request, response) => {
      asked++;
      const isFirst = asked <= 2;
      answer(isFirst ? 503 : 200, isFirst ? { 'retry-after-ms': '30' } : {})(request, response);
    });
    const run = await runOpenLoop({ ...open, client, plan: [0, 1], comesBack: true });
    expect(run.outcomes.map(({ ending }) => ending)).toEqual([
      { kind: 'refused', retryAfterMs: 30 },
      { kind: 'refused', retryAfterMs: 30 },
    ]);
    expect(run.returns.map(({ ending }) => ending.kind)).toEqual(['answered', 'answered']);
    for (const [index, { plannedMs }] of run.returns.entries())
      expect(plannedMs).toBeCloseTo((run.outcomes[index]?.endedMs ?? 0) + 30, 6);
  });

  it('reads seconds too, and sends the headers it was given', async () => {
    let deadline: unknown;
    const client = await serve((request, response) => {
      deadline = request.headers['x-umpire-deadline-ms'];
      answer(429, { 'retry-after': '2' })(request, response);
    });
    const headers = { 'x-umpire-deadline-ms': '200' };
    const { outcomes, returns } = await runOpenLoop({ ...open, client, plan: [0], headers });
    expect(outcomes[0]?.ending).toEqual({ kind: 'refused', retryAfterMs: 2000 });
    expect([deadline, returns]).toEqual(['200', []]);
  });

  it('tells what failed', async () => {
    const client = await serve((request) => request.destroy());
    const { outcomes } = await runOpenLoop({ ...open, client, plan: [0] });
    expect(outcomes[0]?.ending).toEqual({ kind: 'failed' });
  });

  it('sends at the rate it was given to the null endpoint', async () => {
    const plan = planArrivals({ requestsPerSecond: 100, durationMs: 500 });
    const gaps = plan.map((atMs, index) => atMs - (plan[index - 1] ?? 0));
    for (const gap of gaps) expect(gap).toBeCloseTo(10, 6);
    const { outcomes } = await withServers({ endpoint: nullEndpoint() }, ({ endpoint: { client } }) =>
      runOpenLoop({ ...open, client, plan }),
    );
    expect(outcomes.map(({ ending }) => ending.kind)).toEqual(plan.map(() => 'answered'));
    expect(outcomes).toHaveLength(49);
  });
});
