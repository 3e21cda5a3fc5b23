// Our server with the cores of the machine split in two ways, in turns: a worker of one thread for each core, or one worker with
// all of them.

import { availableParallelism } from 'node:os';
import type { LoadClass, Loads } from '../load/loads.ts';
import { Fleet } from '../servers/fleet.ts';
import type { Peer } from '../servers/peer.ts';
import { makeUmpirePeer, WITHOUT_CACHES } from '../servers/umpire-peer.ts';
import { type ClosedCell, measureClosedLoops } from './closed-part.ts';

const CONCURRENCIES = [1, 8];

export interface Split {
  readonly workers: number;
  readonly threadsPerWorker: number;
}

export interface SplitFigures {
  readonly rounds: number;
  readonly sliceMs: number;
  readonly classes: readonly Pick<LoadClass, 'id' | 'title'>[];
  /** `peer` is the name of the split. */
  readonly cells: readonly ClosedCell[];
}

export interface SplitOptions {
  readonly loads: Pick<Loads, 'short' | 'medium'>;
  readonly rounds: number;
  readonly sliceMs: number;
  readonly say: (text: string) => void;
}

export async function measureSplits({ loads, rounds, sliceMs, say }: SplitOptions): Promise<SplitFigures> {
  const classes = [loads.short, loads.medium];
  const fleet = await Fleet.start(listSplits(availableParallelism()).map(makeSplitPeer), say);
  try {
    const measure = async (): Promise<SplitFigures> => {
      // The first slice of each is for warming up.
      const plan = { fleet, concurrencies: CONCURRENCIES, maxSliceMs: Number.POSITIVE_INFINITY, say };
      await measureClosedLoops({ ...plan, classes, rounds: 1, sliceMs: sliceMs / 4 });
      await fleet.watchIdle();
      const { cells } = await measureClosedLoops({ ...plan, classes, rounds, sliceMs });
      return { rounds, sliceMs, classes: classes.map(({ id, title }) => ({ id, title })), cells };
    };
    const figures = await Promise.race([measure(), fleet.lost]);
    await fleet.stop();
    return figures;
  } catch (error) {
    fleet.kill();
    throw error;
  }
}

export function listSplits(cores: number): readonly Split[] {
  const byWorkers = { workers: cores, threadsPerWorker: 1 };
  // On one core the two are the same.
  return cores === 1 ? [byWorkers] : [byWorkers, { workers: 1, threadsPerWorker: cores }];
}

function makeSplitPeer(split: Split): Peer {
  const { workers, threadsPerWorker } = split;
  const settings = {
    ...WITHOUT_CACHES,
    UMPIRE_ENGINE_WORKERS: String(workers),
    UMPIRE_ENGINE_THREADS_PER_WORKER: String(threadsPerWorker),
  };
  return { ...makeUmpirePeer(settings), id: nameSplit(split), title: nameSplit(split) };
}

/** `2 × 1`: workers, and threads of each. */
export function nameSplit({ workers, threadsPerWorker }: Split): string {
  return `${workers} × ${threadsPerWorker}`;
}
