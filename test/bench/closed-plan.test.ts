// Cells that would take too long are left out and told; what is measured is measured of all others alike.

import { describe, expect, it } from 'vitest';
import { measureClosedLoops } from '../../bench/peers/closed-part.ts';
import { expectSliceMs, listLeftOut, requestMsOf } from '../../bench/peers/closed-plan.ts';
import type { Member } from '../../bench/peers/fleet.ts';
import type { LoadClass } from '../../bench/peers/loads.ts';
import { requestFor } from '../../bench/peers/wire.ts';

const PLAN = { load: 'embed-64', leastConcurrency: 1, durationMs: 1000, maxSliceMs: 10_000 };
const COSTS = [
  { peer: 'fast', load: 'embed-64', requestMs: 400 },
  { peer: 'slow', load: 'embed-64', requestMs: 2000 },
  { peer: 'silent', load: 'embed-64', requestMs: Number.NaN },
];
const PEERS = COSTS.map(({ peer }) => peer);

describe('a slice', () => {
  it('of quick requests takes its time, and of slow ones the ramp, as many answers, and those in flight', () => {
    expect(expectSliceMs({ requestMs: 10, concurrency: 4, durationMs: 1000 })).toBe(40 + 1000 + 30);
    expect(expectSliceMs({ requestMs: 2000, concurrency: 4, durationMs: 1000 })).toBe(11 * 2000);
    expect(expectSliceMs({ requestMs: 2000, concurrency: 1, durationMs: 1000 })).toBe(2 * 2000);
  });

  it('without an answer says nothing of its cost', () => {
    expect(requestMsOf({ elapsedMs: 600, latenciesMs: [350, 400, 420] })).toBe(200);
    expect(requestMsOf({ elapsedMs: 0, latenciesMs: [] })).toBeNaN();
  });
});

describe('what is left out', () => {
  it('is what takes too long of this server with so many clients, with its reason', () => {
    expect(listLeftOut(COSTS, PEERS, { ...PLAN, concurrency: 4 })).toEqual([
      { peer: 'slow', load: 'embed-64', requestMs: 2000, concurrency: 4, sliceMs: 22_000 },
    ]);
    expect(listLeftOut(COSTS, PEERS, { ...PLAN, concurrency: 2 })).toEqual([]);
    expect(listLeftOut(COSTS, ['fast'], { ...PLAN, concurrency: 4 })).toEqual([]);
    expect(listLeftOut(COSTS, PEERS, { ...PLAN, load: 'embed-1', concurrency: 4 })).toEqual([]);
  });

  it('is never the fewest clients, so every server has a figure', () => {
    const plan = { ...PLAN, concurrency: 1, maxSliceMs: 1 };
    expect(listLeftOut(COSTS, PEERS, plan)).toEqual([]);
    expect(listLeftOut(COSTS, PEERS, { ...plan, leastConcurrency: 0 }).map(({ peer }) => peer)).toEqual([
      'fast',
      'slow',
    ]);
  });
});

describe('closed loops', () => {
  const load: LoadClass = {
    id: 'embed-64',
    title: 'texts',
    task: 'embedding',
    concurrencies: [1, 2, 64],
    make: () => ({ job: { task: 'embedding', inputs: ['text'] }, tokens: 3, group: 'all' }),
  };
  const member = (id: string): Member => {
    const reply = { status: 200, latencyMs: 1, text: '', headers: {}, retryAfterMs: undefined, serverTiming: '' };
    const client = { post: async () => reply };
    return { id, running: { requestFor }, client } as unknown as Member;
  };
  const members = [member('fast'), member('slow')];
  const asked: string[] = [];
  const fleet = {
    members,
    async inTurns(rounds: number, measure: (one: Member, round: number) => Promise<void>) {
      for (let round = 0; round < rounds; round++) for (const one of members) await measure(one, round);
    },
  };

  it('ask every server with the same numbers of clients, but for what is left out', async () => {
    const plan = { rounds: 2, sliceMs: 1, concurrencies: [1, 2], costs: COSTS, maxSliceMs: 9000 };
    const { cells, leftOut } = await measureClosedLoops({
      fleet,
      classes: [load],
      ...plan,
      say: (text) => asked.push(text),
    });
    const measured = cells.map(({ peer, concurrency, requestsPerSecondBySlice }) => {
      return [peer, concurrency, requestsPerSecondBySlice.length];
    });
    expect(measured).toEqual([
      ['fast', 1, 2],
      ['slow', 1, 2],
      ['fast', 2, 2],
    ]);
    expect(leftOut.map(({ peer, concurrency }) => [peer, concurrency])).toEqual([['slow', 2]]);
    expect(asked).toHaveLength(2);
  });
});
