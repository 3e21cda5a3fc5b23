// Cells that would take too long are left out and told; what is measured is measured of all others alike.

import { describe, expect, it } from 'vitest';
import type { LoadClass } from '../../../bench/load/loads.ts';
import { expectSliceMs, listLeftOut, measureClosedLoops } from '../../../bench/parts/closed.ts';
import { Fleet, type Member } from '../../../bench/servers/fleet.ts';

const PLAN = { load: 'embed-64', durationMs: 1000, maxSliceMs: 10_000 };
const COSTS = new Map([
  ['fast', 400],
  ['slow', 2000],
]);

describe('a slice', () => {
  it('of quick requests takes its time, and of slow ones the ramp, as many answers, and those in flight', () => {
    expect(expectSliceMs({ requestMs: 10, concurrency: 4, durationMs: 1000 })).toBe(40 + 1000 + 30);
    expect(expectSliceMs({ requestMs: 2000, concurrency: 4, durationMs: 1000 })).toBe(11 * 2000);
    expect(expectSliceMs({ requestMs: 2000, concurrency: 1, durationMs: 1000 })).toBe(2 * 2000);
  });
});

describe('what is left out', () => {
  it('is what takes too long of this server with so many clients, with its reason', () => {
    const slow = { peer: 'slow', load: 'embed-64', requestMs: 2000, concurrency: 4, sliceMs: 22_000 };
    expect(listLeftOut(COSTS, { ...PLAN, concurrency: 4 })).toEqual([slow]);
    expect(listLeftOut(COSTS, { ...PLAN, concurrency: 2 })).toEqual([]);
  });

  it('is a server that answered nothing with fewer', () => {
    const silent = new Map([['silent', Number.POSITIVE_INFINITY]]);
    expect(listLeftOut(silent, { ...PLAN, concurrency: 2 })).toHaveLength(1);
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
    const client = { post: async () => ({ status: 200, latencyMs: 1, text: '', headers: {} }) };
    return { name: id, client, process: { pids: () => [] }, idleShare: 0 } as unknown as Member;
  };
  const members = [member('one'), member('other')];
  const fleet = new Fleet(members);
  const measure = async (maxSliceMs: number) => {
    const plan = { rounds: 2, sliceMs: 1, concurrencies: [1, 2], maxSliceMs, say: () => {} };
    const { cells, leftOut } = await measureClosedLoops({ fleet, classes: [load], ...plan });
    return {
      cells: cells.map(({ peer, concurrency, requestsPerSecondBySlice: { length } }) => [peer, concurrency, length]),
      leftOut: leftOut.map(({ peer, concurrency }) => [peer, concurrency]),
    };
  };
  const fewest = members.map(({ name }) => [name, 1, 2]);

  it('ask every server with the same numbers of clients', async () => {
    const all = [...fewest, ...members.map(({ name }) => [name, 2, 2])];
    expect(await measure(1e6)).toEqual({ cells: all, leftOut: [] });
  });

  it('leave out what would take too long, but never the fewest clients: every server has a figure', async () => {
    expect(await measure(0)).toEqual({ cells: fewest, leftOut: members.map(({ name }) => [name, 2]) });
  });
});
