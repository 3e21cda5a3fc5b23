// The parts `decisions` and `embeddings`: closed loops of every class at every concurrency, servers in turns; where one would take
// too long, it is left out and said to be. And what tokens cost at these rates.

import { type ClosedFigures, type ClosedRun, joinRuns, runClosedLoop } from '../load/closed-loop.ts';
import { type LoadClass, seedOf, streamOf } from '../load/loads.ts';
import { formatNumber } from '../pages/table.ts';
import type { Turns } from '../servers/fleet.ts';

export interface ClosedCell extends ClosedFigures {
  readonly peer: string;
  readonly load: string;
  readonly concurrency: number;
}

export interface ClosedOptions {
  readonly fleet: Turns;
  readonly classes: readonly LoadClass[];
  readonly rounds: number;
  readonly sliceMs: number;
  /** Those of a class that are not in here are left out. */
  readonly concurrencies: readonly number[];
  /** A server whose slice would take longer, by what its requests took with fewer clients, is left out. The fewest never are. */
  readonly maxSliceMs: number;
  readonly say: (text: string) => void;
}

/** A cell that was not measured, because one slice of it would have taken `sliceMs`. */
export interface LeftOut {
  readonly peer: string;
  readonly load: string;
  readonly concurrency: number;
  /** What one request takes of a server that has enough to do: time over answers. */
  readonly requestMs: number;
  readonly sliceMs: number;
}

/** From few clients to many. */
export async function measureClosedLoops(options: ClosedOptions) {
  const { fleet, classes, concurrencies, maxSliceMs, sliceMs: durationMs, say } = options;
  const [cells, leftOut]: [ClosedCell[], LeftOut[]] = [[], []];
  for (const load of classes) {
    const costs = new Map<string, number>();
    for (const concurrency of load.concurrencies.filter((count) => concurrencies.includes(count))) {
      const tooDear = listLeftOut(costs, { load: load.id, concurrency, durationMs, maxSliceMs });
      const peers = fleet.members
        .map(({ server }) => server.id)
        .filter((id) => !tooDear.some(({ peer }) => peer === id));
      const row = await measureRow(options, { load, concurrency, peers });
      const rates = row.map(({ peer, requestsPerSecond }) => `${peer} ${formatNumber(requestsPerSecond)} req/s`);
      say(`closed loop: ${load.id}, ${concurrency} at a time: ${rates.join(', ') || 'left out for all'}`);
      for (const { peer, requestsPerSecond } of row) costs.set(peer, 1000 / requestsPerSecond);
      leftOut.push(...tooDear);
      cells.push(...row);
    }
  }
  return { cells, leftOut };
}

/** @param costs what a request took with fewer clients, by server @returns those of which a slice would take too long */
export function listLeftOut(
  costs: ReadonlyMap<string, number>,
  {
    durationMs,
    maxSliceMs,
    ...cell
  }: Pick<LeftOut, 'load' | 'concurrency'> & { durationMs: number; maxSliceMs: number },
): LeftOut[] {
  return [...costs]
    .map(([peer, requestMs]) => ({
      peer,
      ...cell,
      requestMs,
      sliceMs: expectSliceMs({ ...cell, requestMs, durationMs }),
    }))
    .filter(({ sliceMs }) => sliceMs > maxSliceMs);
}

/** An answer for each client before what counts, at least one for each that counts, and those still in flight at its end. */
export function expectSliceMs(plan: { requestMs: number; concurrency: number; durationMs: number }): number {
  const { requestMs, concurrency, durationMs } = plan;
  return (2 * concurrency - 1) * requestMs + Math.max(durationMs, concurrency * requestMs);
}

interface CellRow {
  readonly load: LoadClass;
  readonly concurrency: number;
  readonly peers: readonly string[];
}

/** One cell of each of `peers`. */
async function measureRow({ fleet, rounds, sliceMs: durationMs }: ClosedOptions, row: CellRow): Promise<ClosedCell[]> {
  const { load, concurrency, peers } = row;
  const runs = new Map<string, ClosedRun[]>(peers.map((id) => [id, []]));
  await fleet.inTurns(rounds, async ({ server, client }, round) => {
    const next = streamOf(load, seedOf(load.id, concurrency, round));
    await runs.get(server.id)?.push(await runClosedLoop({ client, next, concurrency, durationMs }));
  });
  return [...runs].map(([peer, some]) => ({ peer, load: load.id, concurrency, ...joinRuns(some) }));
}

/** What a million tokens cost at an hourly price of the machine, at the concurrency with the most tokens per second. */
export function listCosts(cells: readonly ClosedCell[], usdPerHour: number) {
  const answered = cells.filter(({ tokensPerSecond }) => tokensPerSecond > 0);
  const groups = Map.groupBy(answered, ({ peer, load }) => JSON.stringify([peer, load]));
  return [...groups.values()].map((group) => {
    const best = group.reduce((top, cell) => (cell.tokensPerSecond > top.tokensPerSecond ? cell : top));
    const { peer, load, concurrency, tokensPerSecond } = best;
    const usdPerMillionTokens = (usdPerHour / (tokensPerSecond * 3600)) * 1e6;
    return { peer, load, concurrency, tokensPerSecond, usdPerMillionTokens };
  });
}
