// The part `splits`: our server with the cores of the machine split in two ways, in turns: a worker of one thread for each core,
// or one worker with all of them.

import { availableParallelism } from 'node:os';
import type { Loads } from '../load/loads.ts';
import { withFleet } from '../servers/fleet.ts';
import type { Server } from '../servers/server.ts';
import { umpire, WITHOUT_CACHES } from '../servers/umpire.ts';
import { measureClosedLoops } from './closed.ts';

export interface Split {
  readonly workers: number;
  readonly threadsPerWorker: number;
}

export interface SplitOptions {
  readonly loads: Loads;
  readonly rounds: number;
  readonly sliceMs: number;
  readonly say: (text: string) => void;
}

export async function measureSplits({ loads, rounds, sliceMs, say }: SplitOptions) {
  const classes = [loads.short, loads.medium];
  return await withFleet(listSplits(availableParallelism()).map(makeServer), say, async (fleet) => {
    // The first slice of each is for warming up.
    const plan = { fleet, classes, concurrencies: [1, 8], maxSliceMs: Number.POSITIVE_INFINITY, say };
    await measureClosedLoops({ ...plan, rounds: 1, sliceMs: sliceMs / 4 });
    await fleet.watchIdle();
    /** `peer` is the name of the split. */
    const { cells } = await measureClosedLoops({ ...plan, rounds, sliceMs });
    return { rounds, sliceMs, classes: classes.map(({ id, title }) => ({ id, title })), cells };
  });
}

export function listSplits(cores: number): readonly Split[] {
  const byWorkers = { workers: cores, threadsPerWorker: 1 };
  // On one core the two are the same.
  return cores === 1 ? [byWorkers] : [byWorkers, { workers: 1, threadsPerWorker: cores }];
}

function makeServer(split: Split): Server {
  const settings = {
    ...WITHOUT_CACHES,
    UMPIRE_ENGINE_WORKERS: String(split.workers),
    UMPIRE_ENGINE_THREADS_PER_WORKER: String(split.threadsPerWorker),
  };
  return { ...umpire(settings), id: nameSplit(split), title: nameSplit(split) };
}

/** `2 × 1`: workers, and threads of each. */
export function nameSplit({ workers, threadsPerWorker }: Split): string {
  return `${workers} × ${threadsPerWorker}`;
}
