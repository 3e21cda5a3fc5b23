// The closed loops of a comparison: every class, every concurrency, every server in turns.

import { type ClosedFigures, type ClosedSlice, joinSlices, runClosedSlice } from './closed-loop.ts';
import type { Fleet } from './fleet.ts';
import { type LoadClass, streamOf } from './loads.ts';

export interface ClosedCell extends ClosedFigures {
  readonly peer: string;
  readonly load: string;
  readonly concurrency: number;
}

export interface ClosedOptions {
  readonly fleet: Fleet;
  readonly classes: readonly LoadClass[];
  readonly rounds: number;
  readonly sliceMs: number;
  /** Those of a class that are not in here are left out. */
  readonly concurrencies: readonly number[];
  readonly say: (text: string) => void;
}

export async function measureClosedLoops(options: ClosedOptions): Promise<ClosedCell[]> {
  const cells: ClosedCell[] = [];
  for (const load of options.classes) {
    for (const concurrency of load.concurrencies.filter((count) => options.concurrencies.includes(count))) {
      options.say(`closed loop: ${load.id}, ${concurrency} at a time`);
      cells.push(...(await measureCells(options, load, concurrency)));
    }
  }
  return cells;
}

/** One cell of each server. */
async function measureCells(options: ClosedOptions, load: LoadClass, concurrency: number): Promise<ClosedCell[]> {
  const { fleet, rounds, sliceMs: durationMs } = options;
  const slices = new Map<string, ClosedSlice[]>(fleet.members.map(({ id }) => [id, []]));
  await fleet.inTurns(rounds, async (member, round) => {
    const next = streamOf(load, seedOf(load.id, concurrency, round));
    slices.get(member.id)?.push(await runClosedSlice({ member, next, concurrency, durationMs }));
  });
  return [...slices].map(([peer, some]) => ({ peer, load: load.id, concurrency, ...joinSlices(some) }));
}

/** The same for all servers, and never the same twice in a run. FNV-1a over what it is made of. */
export function seedOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(parts.join('/'))) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
