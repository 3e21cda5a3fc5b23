// The closed loop, against endpoints that do nothing or refuse.

import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { joinRuns, runClosedLoop } from '../../../bench/load/closed-loop.ts';
import { decisionJob, type Work } from '../../../bench/load/workload.ts';
import { answer, serve } from './scripted-server.ts';

const WORK: Work = { job: decisionJob({ stateTokens: 4, questions: 1 }), tokens: 7, group: 'short' };
const next = (): Work => WORK;

describe('the closed loop', () => {
  it('keeps as many requests in flight as it has clients, and never more', async () => {
    // The first four are answered when all of them are there.
    const first = Promise.withResolvers<void>();
    const inFlight = { now: 0, most: 0 };
    const client = await serve(async (request, response) => {
      inFlight.most = Math.max(inFlight.most, ++inFlight.now);
      if (inFlight.now === 4) first.resolve();
      await Promise.all([first.promise, once(request.resume(), 'end')]);
      inFlight.now--;
      response.end('{}');
    });
    const run = await runClosedLoop({ client, next, concurrency: 4, durationMs: 50, leastReplies: 20 });
    expect(inFlight.most).toBe(4);
    const figures = joinRuns([run]);
    expect(figures.latency.samples).toBeGreaterThanOrEqual(20);
    expect(figures.tokensPerSecond).toBeCloseTo(7 * figures.requestsPerSecond, 6);
    expect(figures).toMatchObject({ refused: 0, errors: 0 });
  });

  it('counts answers and tokens after the ramp', async () => {
    const client = await serve(answer(200));
    const run = await runClosedLoop({ client, next, concurrency: 4, durationMs: 50 });
    expect(run.latenciesMs.length).toBeGreaterThanOrEqual(4);
    expect(run.tokens).toBe(7 * run.latenciesMs.length);
    expect(run.elapsedMs).toBeGreaterThanOrEqual(50);
    expect(run).toMatchObject({ refused: 0, errors: 0 });
  });

  it('tells refusals and errors apart, times neither, and ends all the same', async () => {
    const full = await serve(answer(503, { 'retry-after-ms': '1' }));
    const refused = await runClosedLoop({ client: full, next, concurrency: 2, durationMs: 20 });
    expect(refused).toMatchObject({ latenciesMs: [], errors: 0 });
    expect(refused.refused).toBeGreaterThan(0);
    const broken = await serve((request) => request.destroy());
    const failed = await runClosedLoop({ client: broken, next, concurrency: 2, durationMs: 20 });
    expect(failed).toMatchObject({ latenciesMs: [], refused: 0 });
    expect(failed.errors).toBeGreaterThan(0);
  });

  it('ends at its limit, though it has not heard as many replies as it wanted', async () => {
    const client = await serve(answer(200));
    const run = await runClosedLoop({ client, next, concurrency: 1, durationMs: 1, leastReplies: 1e9, maxMs: 30 });
    expect(run.latenciesMs.length).toBeLessThan(1e9);
  });
});
