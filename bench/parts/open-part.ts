// The open loops of a comparison: Poisson arrivals at shares of what each server can take, and a burst whose refused clients
// come back when they were told to.

import { planArrivals } from '../load/arrivals.ts';
import { type ClosedSlice, joinSlices, runClosedSlice } from '../load/closed-loop.ts';
import { type OpenLoopFigures, type Outcome, summariseOutcomes } from '../load/goodput.ts';
import { type LoadClass, streamOf } from '../load/loads.ts';
import { runOpenLoop } from '../load/open-loop.ts';
import type { Fleet, Member } from '../servers/fleet.ts';
import { seedOf } from './closed-part.ts';

/** Closed loop that capacity is measured with: enough at a time to keep all cores busy. */
const CAPACITY_CONCURRENCY = 16;
const BURST_SHARE = 2;
const AFTER_BURST_SHARE = 0.25;
/** Milliseconds in which the whole answer is wanted; ours alone reads it. */
const DEADLINE_HEADERS = { 'x-umpire-deadline-ms': '200' };

export interface OpenCell extends OpenLoopFigures {
  readonly peer: string;
  readonly load: string;
  /** Whether each request said that its answer is wanted within 200 ms. */
  readonly hasDeadline: boolean;
  /** Offered over capacity. */
  readonly share: number;
}

export interface Capacity {
  readonly peer: string;
  readonly load: string;
  readonly requestsPerSecond: number;
}

/** Twice the capacity for a while, then a quarter of it: whoever was refused comes back once. */
export interface BurstFigures {
  readonly peer: string;
  readonly load: string;
  readonly hasDeadline: boolean;
  readonly refused: number;
  readonly toldWhen: number;
  readonly cameBack: number;
  readonly letIn: number;
  readonly meanRetryAfterMs: number;
}

export interface OpenFigures {
  readonly sliceMs: number;
  readonly capacities: readonly Capacity[];
  readonly cells: readonly OpenCell[];
  readonly bursts: readonly BurstFigures[];
}

export interface OpenOptions {
  readonly fleet: Fleet;
  readonly classes: readonly LoadClass[];
  readonly shares: readonly number[];
  readonly sharesOfOthers: readonly number[];
  readonly rounds: number;
  readonly sliceMs: number;
  readonly say: (text: string) => void;
}

export async function measureOpenLoops(options: OpenOptions): Promise<OpenFigures> {
  const parts = [];
  for (const load of options.classes) parts.push(await measureClass(options, load));
  return {
    sliceMs: options.sliceMs,
    capacities: parts.flatMap(({ capacities }) => capacities),
    cells: parts.flatMap(({ cells }) => cells),
    bursts: parts.flatMap(({ bursts }) => bursts),
  };
}

async function measureClass(options: OpenOptions, load: LoadClass): Promise<Omit<OpenFigures, 'sliceMs'>> {
  options.say(`open loop: capacity for ${load.id}`);
  const capacities = await measureCapacities(options, load);
  const cells: OpenCell[] = [];
  for (const share of options.shares) {
    options.say(`open loop: ${load.id} at ${share} × capacity`);
    cells.push(...(await measureShare(options, { load, share, capacities })));
  }
  options.say(`open loop: a burst of ${load.id}`);
  return { capacities, cells, bursts: await measureBursts(options, load, capacities) };
}

async function measureCapacities({ fleet, sliceMs }: OpenOptions, load: LoadClass): Promise<Capacity[]> {
  const slices = new Map<string, ClosedSlice[]>(fleet.members.map(({ id }) => [id, []]));
  await fleet.inTurns(2, async (member, round) => {
    const next = streamOf(load, seedOf('capacity', load.id, round));
    const slice = { member, next, concurrency: CAPACITY_CONCURRENCY, durationMs: sliceMs / 2 };
    slices.get(member.id)?.push(await runClosedSlice(slice));
  });
  return [...slices].map(([peer, some]) => ({
    peer,
    load: load.id,
    requestsPerSecond: joinSlices(some).requestsPerSecond,
  }));
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
  await fleet.inTurns(rounds, async (member, round) => {
    if (member.running.peer.kind !== 'ours' && !sharesOfOthers.includes(share)) return;
    for (const hasDeadline of deadlinesOf(member)) {
      const seed = seedOf('open', load.id, share, round, String(hasDeadline));
      const requestsPerSecond = share * capacityOf(capacities, member);
      const plan = planArrivals({ requestsPerSecond, durationMs: sliceMs, seed });
      const headers = hasDeadline ? DEADLINE_HEADERS : {};
      const run = await runOpenLoop({ member, plan, next: streamOf(load, seed), headers, comesBack: false });
      const key = `${member.id} ${hasDeadline}`;
      const cell = cells.get(key) ?? { peer: member.id, hasDeadline, outcomes: [] };
      cell.outcomes.push(...run.outcomes);
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
  await fleet.inTurns(1, async (member) => {
    const capacity = capacityOf(capacities, member);
    const seed = seedOf('burst', load.id);
    const burst = planArrivals({ requestsPerSecond: BURST_SHARE * capacity, durationMs: sliceMs, seed });
    const after = planArrivals({ requestsPerSecond: AFTER_BURST_SHARE * capacity, durationMs: sliceMs, seed });
    const plan = [...burst, ...after.map((atMs) => sliceMs + atMs)];
    for (const hasDeadline of deadlinesOf(member)) {
      const headers = hasDeadline ? DEADLINE_HEADERS : {};
      const next = streamOf(load, seedOf('burst', load.id, String(hasDeadline)));
      const { outcomes, returns } = await runOpenLoop({ member, plan, next, headers, comesBack: true });
      const refused = outcomes.flatMap(({ ending }) => (ending.kind === 'refused' ? [ending] : []));
      const waits = refused.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]));
      bursts.push({
        peer: member.id,
        load: load.id,
        hasDeadline,
        refused: refused.length,
        toldWhen: waits.length,
        cameBack: returns.length,
        letIn: returns.filter(({ ending }) => ending.kind === 'answered').length,
        meanRetryAfterMs: waits.reduce((total, wait) => total + wait, 0) / waits.length,
      });
    }
  });
  return bursts;
}

function deadlinesOf({ running }: Member): readonly boolean[] {
  return running.peer.kind === 'ours' ? [false, true] : [false];
}

function capacityOf(capacities: readonly Capacity[], { id }: Member): number {
  const found = capacities.find(({ peer }) => peer === id)?.requestsPerSecond;
  if (found === undefined || !(found > 0)) throw new Error(`${id} answered nothing while its capacity was measured.`);
  return found;
}
