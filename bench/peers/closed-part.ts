// The closed loops of a comparison: every class, every concurrency, every server in turns.

import { type ClosedFigures, type ClosedSlice, joinSlices, runClosedSlice } from './closed-loop.ts';
import { type LeftOut, listLeftOut, type RequestCost } from './closed-plan.ts';
import type { Fleet } from './fleet.ts';
import { type LoadClass, streamOf } from './loads.ts';

export interface ClosedCell extends ClosedFigures {
  readonly peer: string;
  readonly load: string;
  readonly concurrency: number;
}

export interface ClosedCells {
  readonly cells: readonly ClosedCell[];
  readonly leftOut: readonly LeftOut[];
}

export interface ClosedOptions {
  readonly fleet: Pick<Fleet, 'members' | 'inTurns'>;
  readonly classes: readonly LoadClass[];
  readonly rounds: number;
  readonly sliceMs: number;
  /** Those of a class that are not in here are left out. */
  readonly concurrencies: readonly number[];
  /** From the warm-up; a cell whose slice would take longer than `maxSliceMs` is left out, but for the first of its class. */
  readonly costs: readonly RequestCost[];
  readonly maxSliceMs: number;
  readonly say: (text: string) => void;
}

export async function measureClosedLoops(options: ClosedOptions): Promise<ClosedCells> {
  const { fleet, classes, concurrencies, costs, maxSliceMs, sliceMs: durationMs, say } = options;
  const cells: ClosedCell[] = [];
  const leftOut: LeftOut[] = [];
  const peers = fleet.members.map(({ id }) => id);
  for (const load of classes) {
    const levels = load.concurrencies.filter((count) => concurrencies.includes(count));
    const leastConcurrency = Math.min(...levels);
    for (const concurrency of levels) {
      say(`closed loop: ${load.id}, ${concurrency} at a time`);
      const plan = { load: load.id, concurrency, leastConcurrency, durationMs, maxSliceMs };
      const tooDear = listLeftOut(costs, peers, plan);
      const isWanted = (peer: string): boolean => !tooDear.some((cell) => cell.peer === peer);
      leftOut.push(...tooDear);
      cells.push(...(await measureCells(options, { load, concurrency, peers: peers.filter(isWanted) })));
    }
  }
  return { cells, leftOut };
}

interface CellRow {
  readonly load: LoadClass;
  readonly concurrency: number;
  readonly peers: readonly string[];
}

/** One cell of each of `peers`. */
async function measureCells(options: ClosedOptions, { load, concurrency, peers }: CellRow): Promise<ClosedCell[]> {
  const { fleet, rounds, sliceMs: durationMs } = options;
  const slices = new Map<string, ClosedSlice[]>(peers.map((id) => [id, []]));
  await fleet.inTurns(rounds, async (member, round) => {
    const own = slices.get(member.id);
    if (own === undefined) return;
    const next = streamOf(load, seedOf(load.id, concurrency, round));
    own.push(await runClosedSlice({ member, next, concurrency, durationMs }));
  });
  return [...slices].map(([peer, some]) => ({ peer, load: load.id, concurrency, ...joinSlices(some) }));
}

/** The same for all servers, and never the same twice in a run. FNV-1a over what it is made of. */
export function seedOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(parts.join('/'))) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
