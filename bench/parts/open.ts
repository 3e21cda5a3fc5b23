// The part `open`: Poisson arrivals at shares of what each server can take, and a burst whose refused clients come back when
// they were told to.

import { type ClosedRun, joinRuns, runClosedLoop } from '../load/closed-loop.ts';
import { listWaits, type OpenLoopFigures, type Outcome, summariseOutcomes } from '../load/goodput.ts';
import { type LoadClass, seedOf, streamOf } from '../load/loads.ts';
import { planArrivals, runOpenLoop } from '../load/open-loop.ts';
import { sum } from '../load/statistics.ts';
import type { Member, Turns } from '../servers/fleet.ts';

/** Closed loop that capacity is measured with: enough at a time to keep all cores busy. */
const CAPACITY_CONCURRENCY = 16;
const BURST_SHARE = 2;
const AFTER_BURST_SHARE = 0.25;

export interface OpenCell extends OpenLoopFigures {
  readonly peer: string;
  readonly load: string;
  /** Whether each request said that its answer is wanted within 200 ms. */
  readonly hasDeadline: boolean;
  /** Offered over capacity. */
  readonly share: number;
}

/** Twice the capacity for a while, then a quarter of it: whoever was refused comes back once. */
export interface BurstFigures extends Pick<OpenCell, 'peer' | 'load' | 'hasDeadline'> {
  readonly refused: number;
  readonly toldWhen: number;
  readonly cameBack: number;
  readonly letIn: number;
  readonly meanRetryAfterMs: number;
}

export interface Capacity {
  readonly peer: string;
  readonly load: string;
  readonly requestsPerSecond: number;
}

export interface OpenOptions {
  readonly fleet: Turns;
  readonly classes: readonly LoadClass[];
  readonly shares: readonly number[];
  readonly sharesOfOthers: readonly number[];
  readonly rounds: number;
  readonly sliceMs: number;
  readonly say: (text: string) => void;
}

export async function measureOpenLoops(options: OpenOptions) {
  const figures = { capacities: [] as Capacity[], cells: [] as OpenCell[], bursts: [] as BurstFigures[] };
  for (const load of options.classes) {
    options.say(`open loop: capacity for ${load.id}`);
    const capacities = await measureCapacities(options, load);
    figures.capacities.push(...capacities);
    for (const share of options.shares) {
      options.say(`open loop: ${load.id} at ${share} × capacity`);
      figures.cells.push(...(await measureShare(options, { load, share, capacities })));
    }
    options.say(`open loop: a burst of ${load.id}`);
    figures.bursts.push(...(await measureBursts(options, load, capacities)));
  }
  return { sliceMs: options.sliceMs, ...figures };
}

async function measureCapacities({ fleet, sliceMs }: OpenOptions, load: LoadClass): Promise<Capacity[]> {
  const runs = new Map<string, ClosedRun[]>(fleet.members.map(({ server }) => [server.id, []]));
  await fleet.inTurns(2, async ({ server, client }, round) => {
    const next = streamOf(load, seedOf('capacity', load.id, round));
    const loop = { client, next, concurrency: CAPACITY_CONCURRENCY, durationMs: sliceMs / 2 };
    runs.get(server.id)?.push(await runClosedLoop(loop));
  });
  return [...runs].map(([peer, some]) => {
    const { requestsPerSecond } = joinRuns(some);
    if (!(requestsPerSecond > 0)) throw new Error(`${peer} answered nothing while its capacity was measured.`);
    return { peer, load: load.id, requestsPerSecond };
  });
}

interface ShareOptions {
  readonly load: LoadClass;
  readonly share: number;
  readonly capacities: readonly Capacity[];
}

async function measureShare(
  { fleet, rounds, sliceMs, sharesOfOthers }: OpenOptions,
  { load, share, capacities }: ShareOptions,
): Promise<OpenCell[]> {
  const cells = new Map<string, Pick<OpenCell, 'peer' | 'hasDeadline'> & { readonly outcomes: Outcome[] }>();
  await fleet.inTurns(rounds, async ({ server, client }, round) => {
    if (server.kind !== 'ours' && !sharesOfOthers.includes(share)) return;
    for (const { hasDeadline, headers } of deadlinesOf(server)) {
      const seed = seedOf('open', load.id, share, round, String(hasDeadline));
      const requestsPerSecond = share * capacityOf(capacities, server.id);
      const plan = planArrivals({ requestsPerSecond, durationMs: sliceMs, seed });
      const { outcomes } = await runOpenLoop({ client, plan, next: streamOf(load, seed), headers });
      const key = `${server.id} ${hasDeadline}`;
      const cell = cells.get(key) ?? { peer: server.id, hasDeadline, outcomes: [] };
      cell.outcomes.push(...outcomes);
      cells.set(key, cell);
    }
  });
  return [...cells.values()].map(({ outcomes, ...cell }) => {
    return { ...cell, load: load.id, share, ...summariseOutcomes(outcomes, rounds * sliceMs) };
  });
}

async function measureBursts(
  { fleet, sliceMs }: OpenOptions,
  load: LoadClass,
  capacities: readonly Capacity[],
): Promise<BurstFigures[]> {
  const bursts: BurstFigures[] = [];
  await fleet.inTurns(1, async ({ server, client }) => {
    const capacity = capacityOf(capacities, server.id);
    const planOf = (share: number) =>
      planArrivals({ requestsPerSecond: share * capacity, durationMs: sliceMs, seed: seedOf('burst', load.id) });
    const plan = [...planOf(BURST_SHARE), ...planOf(AFTER_BURST_SHARE).map((atMs) => sliceMs + atMs)];
    for (const { hasDeadline, headers } of deadlinesOf(server)) {
      const next = streamOf(load, seedOf('burst', load.id, String(hasDeadline)));
      const { outcomes, returns } = await runOpenLoop({ client, plan, next, headers, comesBack: true });
      const waits = listWaits(outcomes);
      bursts.push({
        peer: server.id,
        load: load.id,
        hasDeadline,
        refused: outcomes.filter(({ ending }) => ending.kind === 'refused').length,
        toldWhen: waits.length,
        cameBack: returns.length,
        letIn: returns.filter(({ ending }) => ending.kind === 'answered').length,
        meanRetryAfterMs: sum(waits) / waits.length,
      });
    }
  });
  return bursts;
}

/** Milliseconds in which the whole answer is wanted; ours alone reads it. */
function deadlinesOf({ kind }: Pick<Member['server'], 'kind'>) {
  const without = { hasDeadline: false, headers: {} };
  const withDeadline = { hasDeadline: true, headers: { 'x-umpire-deadline-ms': '200' } };
  return kind === 'ours' ? [without, withDeadline] : [without];
}

function capacityOf(capacities: readonly Capacity[], id: string): number {
  return capacities.find(({ peer }) => peer === id)?.requestsPerSecond ?? Number.NaN;
}
