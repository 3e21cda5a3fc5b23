// Both loops of the comparison, against endpoints that count, wait and refuse.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { BenchClient } from '../../../bench/load/client.ts';
import { runClosedSlice } from '../../../bench/load/closed-loop.ts';
import type { Work } from '../../../bench/load/loads.ts';
import { runOpenLoop } from '../../../bench/load/open-loop.ts';
import { requestFor } from '../../../bench/load/wire.ts';
import { makeDecision } from '../../../bench/load/workload.ts';
import type { Member } from '../../../bench/servers/fleet.ts';

const WORK: Work = {
  job: { task: 'decision', body: makeDecision({ stateTokens: 4, questions: 1 }) },
  tokens: 7,
  group: 'short',
};
const next = (): Work => WORK;
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Target = Pick<Member, 'client' | 'running'>;

async function serve(listener: RequestListener): Promise<Target> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = new BenchClient(`http://127.0.0.1:${address.port}`, 'key', null);
  closers.push(
    () => server.close(),
    () => client.close(),
  );
  // Of a running peer the loops use this alone.
  return { client, running: { requestFor } as Member['running'] };
}

function answer(status: number, headers: Record<string, string> = {}): RequestListener {
  return (request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end('{}'));
  };
}

describe('a slice of a closed loop', () => {
  it('counts answers and tokens after the ramp', async () => {
    const member = await serve(answer(200));
    const slice = await runClosedSlice({ member, next, concurrency: 4, durationMs: 50 });
    expect(slice.latenciesMs.length).toBeGreaterThanOrEqual(4);
    expect(slice.tokens).toBe(7 * slice.latenciesMs.length);
    expect(slice.elapsedMs).toBeGreaterThanOrEqual(50);
    expect(slice).toMatchObject({ refused: 0, errors: 0 });
  });

  it('tells refusals and errors apart and ends all the same', async () => {
    const full = await serve(answer(503, { 'retry-after-ms': '1' }));
    const refused = await runClosedSlice({ member: full, next, concurrency: 2, durationMs: 20 });
    expect(refused).toMatchObject({ latenciesMs: [], errors: 0 });
    expect(refused.refused).toBeGreaterThan(0);
    const broken = await serve((request) => request.destroy());
    const failed = await runClosedSlice({ member: broken, next, concurrency: 2, durationMs: 20 });
    expect(failed).toMatchObject({ latenciesMs: [], refused: 0 });
    expect(failed.errors).toBeGreaterThan(0);
  });
});

describe('an open loop', () => {
  const open = { next, headers: {}, comesBack: false };

  it('sends at the planned times though nothing was answered yet', async () => {
    const plan = [0, 5, 10, 15, 20];
    // Nobody is answered before all of them are there.
    const all = Promise.withResolvers<void>();
    let arrived = 0;
    const member = await serve(async (request, response) => {
      if (++arrived === plan.length) all.resolve();
      await Promise.all([all.promise, once(request.resume(), 'end')]);
      response.end('{}');
    });
    const { outcomes } = await runOpenLoop({ ...open, member, plan });
    expect(outcomes.map(({ ending }) => ending.kind)).toEqual(plan.map(() => 'answered'));
    const starts = outcomes.map(({ plannedMs }) => plannedMs - (outcomes[0]?.plannedMs ?? 0));
    for (const [index, start] of starts.entries()) expect(start).toBeCloseTo(plan[index] ?? 0, 6);
    expect(outcomes.every(({ plannedMs, sentMs, endedMs }) => plannedMs <= sentMs + 1 && sentMs < endedMs)).toBe(true);
  });

  it('lets refused clients come back once, when they were told to', async () => {
    let asked = 0;
    const member = await serve((request, response) => {
      asked++;
      const isFirst = asked <= 2;
      answer(isFirst ? 503 : 200, isFirst ? { 'retry-after-ms': '30' } : {})(request, response);
    });
    const run = await runOpenLoop({ ...open, member, plan: [0, 1], comesBack: true });
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
    const member = await serve((request, response) => {
      deadline = request.headers['x-umpire-deadline-ms'];
      answer(429, { 'retry-after': '2' })(request, response);
    });
    const headers = { 'x-umpire-deadline-ms': '200' };
    const { outcomes, returns } = await runOpenLoop({ ...open, member, plan: [0], headers });
    expect(outcomes[0]?.ending).toEqual({ kind: 'refused', retryAfterMs: 2000 });
    expect([deadline, returns]).toEqual(['200', []]);
  });

  it('tells what failed', async () => {
    const member = await serve((request) => request.destroy());
    const { outcomes } = await runOpenLoop({ ...open, member, plan: [0] });
    expect(outcomes[0]?.ending).toEqual({ kind: 'failed' });
  });
});
