// The part `splits`: our server with the cores of the machine split in two ways, in turns: a worker of one thread for each core,
// or one worker with all of them.

import { availableParallelism } from 'node:os';
import { columns, tableOf } from '../pages/table.ts';
import { withServers } from '../servers/fleet.ts';
import type { Server } from '../servers/server.ts';
import { umpire, WITHOUT_CACHES } from '../servers/umpire.ts';
import { measureClosedLoops } from './closed.ts';
import { type Bench, definePart } from './part.ts';

async function measureSplits(bench: Bench) {
  const { loads, say } = bench;
  const [rounds, sliceMs] = [bench.rounds(2, 1), bench.effort(1500, 600)];
  const classes = [loads.short, loads.medium];
  return await withServers(splitServers(availableParallelism()), async (_, fleet) => {
    // The first slice of each is for warming up.
    const plan = { fleet, classes, concurrencies: [1, 8], maxSliceMs: Number.POSITIVE_INFINITY, say };
    await measureClosedLoops({ ...plan, rounds: 1, sliceMs: sliceMs / 4 });
    await fleet.watchIdle();
    /** `peer` is the name of the split. */
    const { cells } = await measureClosedLoops({ ...plan, rounds, sliceMs });
    return { rounds, sliceMs, classes: classes.map(({ id, title }) => ({ id, title })), cells };
  });
}

/** By their names, `2 × 1`: workers, and threads of each. On one core both are the same. */
export function splitServers(cores: number): Readonly<Record<string, Server>> {
  const splits = [
    { workers: cores, threads: 1 },
    { workers: 1, threads: cores },
  ];
  return Object.fromEntries(
    splits.map(({ workers, threads }) => {
      const split = { UMPIRE_ENGINE_WORKERS: String(workers), UMPIRE_ENGINE_THREADS_PER_WORKER: String(threads) };
      return [`${workers} × ${threads}`, umpire({ settings: { ...WITHOUT_CACHES, ...split } })];
    }),
  );
}

export const splits = definePart({
  title: 'Workers and their threads',
  measure: measureSplits,
  write: ({ rounds, sliceMs, classes, cells }) => [
    `Our server with its cores split in two ways, workers × threads of each; ${rounds} rounds of slices of ${sliceMs} ms, in turns. ${classes.map(({ id, title }) => `${id}: ${title}`).join('; ')}.`,
    tableOf(cells, {
      ...columns('load', 'at a time'),
      split: ({ peer }) => peer,
      ...columns('req/s', 'p50 ms', 'p95 ms', 'p99 ms', 'answers'),
    }),
  ],
});
