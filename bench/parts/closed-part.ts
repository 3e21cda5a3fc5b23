// The closed loops of a comparison: every class, every concurrency, every server in turns.

import { type ClosedFigures, type ClosedSlice, joinSlices, runClosedSlice } from '../load/closed-loop.ts';
import { type LoadClass, streamOf } from '../load/loads.ts';
import { formatNumber } from '../pages/table.ts';
import type { Fleet } from '../servers/fleet.ts';
import { type LeftOut, listLeftOut } from './closed-plan.ts';

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
  /** A server whose slice would take longer, by what its requests took with fewer clients, is left out. The fewest never are. */
  readonly maxSliceMs: number;
  readonly say: (text: string) => void;
}

export async function measureClosedLoops(options: ClosedOptions): Promise<ClosedCells> {
  const cells: ClosedCell[] = [];
  const leftOut: LeftOut[] = [];
  for (const load of options.classes) {
    const measured = await measureLoad(options, load);
    cells.push(...measured.cells);
    leftOut.push(...measured.leftOut);
  }
  return { cells, leftOut };
}

/** From few clients to many. */
async function measureLoad(options: ClosedOptions, load: LoadClass): Promise<ClosedCells> {
  const { fleet, concurrencies, maxSliceMs, sliceMs: durationMs, say } = options;
  const cells: ClosedCell[] = [];
  const leftOut: LeftOut[] = [];
  const costs = new Map<string, number>();
  for (const concurrency of load.concurrencies.filter((count) => concurrencies.includes(count))) {
    const known = [...costs].map(([peer, requestMs]) => ({ peer, requestMs }));
    const tooDear = listLeftOut(known, { load: load.id, concurrency, durationMs, maxSliceMs });
    const ids = fleet.members.map(({ id }) => id).filter((id) => !tooDear.some(({ peer }) => peer === id));
    const row = await measureCells(options, { load, concurrency, peers: ids });
    say(`closed loop: ${load.id}, ${concurrency} at a time: ${tellRates(row)}`);
    for (const { peer, requestsPerSecond } of row) costs.set(peer, 1000 / requestsPerSecond);
    leftOut.push(...tooDear);
    cells.push(...row);
  }
  return { cells, leftOut };
}

function tellRates(cells: readonly ClosedCell[]): string {
  if (cells.length === 0) return 'left out for all';
  return `${cells.map(({ peer, requestsPerSecond }) => `${peer} ${formatNumber(requestsPerSecond)}`).join(', ')} req/s`;
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
