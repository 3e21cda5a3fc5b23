// The part `open`: Poisson arrivals at shares of what each server can take, and a burst whose refused clients come back when
// they were told to.

import { joinRuns, runClosedLoop } from '../load/closed-loop.ts';
import { listWaits, summariseOutcomes } from '../load/goodput.ts';
import { type LoadClass, seedOf, streamOf } from '../load/loads.ts';
import { planArrivals, runOpenLoop } from '../load/open-loop.ts';
import { sum } from '../load/statistics.ts';
import type { Chart } from '../pages/charts.ts';
import { columns, tableOf } from '../pages/table.ts';
import type { Fleet, Member } from '../servers/fleet.ts';
import { titlesOf } from './compared.ts';
import { type Bench, definePart } from './part.ts';

/** Closed loop that capacity is measured with. */
const CAPACITY_CONCURRENCY = 16;
const BURST_SHARE = 2;
const AFTER_BURST_SHARE = 0.25;

export type OpenFigures = Awaited<ReturnType<typeof measureOpenLoops>>;
export type OpenCell = Awaited<ReturnType<typeof measureShare>>[number];
type Burst = Awaited<ReturnType<typeof measureBurst>>[number];

/** One class and what each server can take of it in a second. */
export interface Offer {
  readonly fleet: Fleet;
  readonly load: LoadClass;
  readonly sliceMs: number;
  readonly capacityOf: (member: Member) => number;
}

async function measureOpenLoops(bench: Bench) {
  const { fleet, loads, say } = bench;
  const [rounds, sliceMs] = [bench.rounds(2, 1), bench.effort(3000, 2000)];
  const shares = bench.effort([0.25, 0.5, 0.7, 0.9, 1, 1.25, 1.5, 2], [0.7, 1, 2]);
  const sharesOfOthers = bench.effort([0.5, 0.7, 1, 1.5, 2], [0.7, 1, 2]);
  const classes = [loads.short, loads.mix];
  const capacities: Awaited<ReturnType<typeof measureCapacities>> = [];
  const [cells, bursts]: [OpenCell[], Burst[]] = [[], []];
  for (const load of classes) {
    say(`open loop: capacity for ${load.id}`);
    const own = await measureCapacities(fleet, load, { durationMs: sliceMs / 2, concurrency: CAPACITY_CONCURRENCY });
    capacities.push(...own);
    const offer = { fleet, load, sliceMs, capacityOf: capacitiesIn(own) };
    for (const share of shares) {
      say(`open loop: ${load.id} at ${share} × capacity`);
      cells.push(...(await measureShare(offer, { share, rounds, withOthers: sharesOfOthers.includes(share) })));
    }
    say(`open loop: a burst of ${load.id}`);
    bursts.push(...(await measureBurst(offer)));
  }
  const described = classes.map(({ id, title, task }) => ({ id, title, task }));
  return { ...bench.compared(), classes: described, rounds, sliceMs, capacities, cells, bursts };
}

interface CapacityLoop {
  readonly durationMs: number;
  /** Enough at a time to keep the server busy. */
  readonly concurrency: number;
}

export async function measureCapacities(fleet: Fleet, load: LoadClass, loop: CapacityLoop) {
  const runs = await fleet.inTurns(2, ({ client }, round) => {
    const next = streamOf(load, seedOf('capacity', load.id, round));
    return runClosedLoop({ client, next, ...loop });
  });
  return [...runs].map(([peer, some]) => {
    const { requestsPerSecond } = joinRuns(some);
    if (!(requestsPerSecond > 0)) throw new Error(`${peer} answered nothing while its capacity was measured.`);
    return { peer, load: load.id, requestsPerSecond };
  });
}

type Capacity = Awaited<ReturnType<typeof measureCapacities>>[number];

/** By the member's name. */
export function capacitiesIn(capacities: readonly Capacity[]): Offer['capacityOf'] {
  return ({ name }) => capacities.find(({ peer }) => peer === name)?.requestsPerSecond ?? Number.NaN;
}

interface Share {
  /** Offered over capacity. */
  readonly share: number;
  readonly rounds: number;
  readonly withOthers: boolean;
}

export async function measureShare({ fleet, load, sliceMs, capacityOf }: Offer, { share, rounds, withOthers }: Share) {
  const runs = await fleet.inTurns(rounds, async (member, round) => {
    if (member.server.kind !== 'ours' && !withOthers) return undefined;
    return await inBothWays(member, async (hasDeadline, headers) => {
      const seed = seedOf('open', load.id, share, round, String(hasDeadline));
      const plan = planArrivals({ requestsPerSecond: share * capacityOf(member), durationMs: sliceMs, seed });
      const { client } = member;
      return { hasDeadline, ...(await runOpenLoop({ client, plan, next: streamOf(load, seed), headers })) };
    });
  });
  return [...runs].flatMap(([peer, ofRounds]) =>
    [...Map.groupBy(ofRounds.flat(), ({ hasDeadline }) => hasDeadline)].map(([hasDeadline, some]) => {
      const outcomes = some.flatMap((run) => run.outcomes);
      return { peer, hasDeadline, load: load.id, share, ...summariseOutcomes(outcomes, rounds * sliceMs) };
    }),
  );
}

/** Twice the capacity for a while, then a quarter of it: whoever was refused comes back once. */
async function measureBurst({ fleet, load, sliceMs, capacityOf }: Offer) {
  const seed = seedOf('burst', load.id);
  const bursts = await fleet.inTurns(1, (member) => {
    const planOf = (share: number) =>
      planArrivals({ requestsPerSecond: share * capacityOf(member), durationMs: sliceMs, seed });
    const plan = [...planOf(BURST_SHARE), ...planOf(AFTER_BURST_SHARE).map((atMs) => sliceMs + atMs)];
    return inBothWays(member, async (hasDeadline, headers) => {
      const next = streamOf(load, seedOf('burst', load.id, String(hasDeadline)));
      const { client, name: peer } = member;
      const { outcomes, returns } = await runOpenLoop({ client, plan, next, headers, comesBack: true });
      const waits = listWaits(outcomes);
      return {
        peer,
        load: load.id,
        hasDeadline,
        refused: outcomes.filter(({ ending }) => ending.kind === 'refused').length,
        toldWhen: waits.length,
        cameBack: returns.length,
        letIn: returns.filter(({ ending }) => ending.kind === 'answered').length,
        meanRetryAfterMs: sum(waits) / waits.length,
      };
    });
  });
  return [...bursts.values()].flat(2);
}

/** As it is, and told in which milliseconds the whole answer is wanted; ours alone reads that. */
async function inBothWays<T>(
  { server }: Member,
  measure: (hasDeadline: boolean, headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T[]> {
  const without = await measure(false, {});
  return server.kind === 'ours' ? [without, await measure(true, { 'x-umpire-deadline-ms': '200' })] : [without];
}

export const open = definePart({
  title: 'Decisions, open loop',
  task: 'decision',
  measure: measureOpenLoops,
  write: writeOpenLoops,
  draw: drawOpenLoops,
});

function writeOpenLoops(figures: OpenFigures): string[] {
  const titleOf = titlesOf(figures);
  const titled = <T extends { readonly peer: string; readonly hasDeadline?: boolean }>(rows: readonly T[]) =>
    rows.map((row) => ({ ...row, server: `${titleOf(row.peer)}${row.hasDeadline ? ', deadline' : ''}` }));
  const cells = titled(figures.cells);
  const steady = cells
    .filter(({ load, share }) => load === 'mix' && share === 0.7)
    .flatMap((cell) => Object.entries(cell.latencyByGroup).map(([group, latency]) => ({ ...cell, group, latency })));
  return [
    `Poisson arrivals, ${figures.rounds} rounds of ${figures.sliceMs} ms at each load. Times count from the planned moment of sending; what a refusal took, from the real one. Good: answered within 200 ms. Capacity is each server's own, in a closed loop of 16.`,
    tableOf(titled(figures.capacities), {
      ...columns('load', 'server'),
      'capacity, req/s': ({ requestsPerSecond }) => requestsPerSecond,
    }),
    tableOf(cells, {
      ...columns('load', '× capacity', 'server'),
      'offered/s': ({ offeredPerSecond }) => offeredPerSecond,
      'good/s': ({ goodPerSecond }) => goodPerSecond,
      ...columns('p50 ms', 'p99 ms'),
      refused: ({ refusedShare }) => refusedShare,
      'no: p50 ms': ({ refusal }) => refusal.p50Ms,
      'no: p99 ms': ({ refusal }) => refusal.p99Ms,
      'no: max ms': ({ refusal }) => refusal.maxMs,
      'given up': ({ givenUp }) => givenUp,
      failed: ({ failed }) => failed,
      'client lag p99 ms': ({ clientLagP99Ms }) => clientLagP99Ms,
    }),
    'The mix at 0.7 × capacity, by length of the document:',
    tableOf(steady, {
      ...columns('load', '× capacity', 'server'),
      length: ({ group }) => group,
      ...columns('answers', 'p50 ms', 'p99 ms'),
      'p99 ÷ p50': ({ latency }) => latency.p99Ms / latency.p50Ms,
    }),
    'A burst of twice the capacity, then a quarter of it: whoever was refused with a `Retry-After` came back once, then.',
    tableOf(titled(figures.bursts), {
      ...columns('load', 'server', 'refused'),
      'told when': ({ toldWhen }) => toldWhen,
      'mean wait ms': ({ meanRetryAfterMs }) => meanRetryAfterMs,
      'came back': ({ cameBack }) => cameBack,
      'let in': ({ letIn }) => letIn,
    }),
  ];
}

function drawOpenLoops({ servers, cells: all }: OpenFigures): Chart[] {
  return [...Map.groupBy(all, ({ load }) => load)].flatMap(([load, cells]) => {
    const chart = (title: string, yLabel: string, yOf: (cell: OpenCell) => number): Chart => {
      const series = servers.flatMap(({ id, title: server }) =>
        [false, true].map((hasDeadline) => {
          const own = cells.filter((cell) => cell.peer === id && cell.hasDeadline === hasDeadline);
          const points = own.map((cell) => ({ x: cell.offeredPerSecond, y: yOf(cell) })).sort((a, b) => a.x - b.x);
          return { name: hasDeadline ? `${server}, deadline of 200 ms` : server, points };
        }),
      );
      return {
        title: `${load}: ${title}`,
        xLabel: 'offered requests/s',
        yLabel,
        xScale: 'linear',
        yScale: title === 'p99 of answers' ? 'log' : 'linear',
        series: series.filter(({ points }) => points.length > 0),
      };
    };
    return [
      chart('goodput', 'answers within 200 ms, per second', ({ goodPerSecond }) => goodPerSecond),
      chart('p99 of answers', 'p99, ms', ({ latency }) => latency.p99Ms),
      chart('p99 of refusals', 'p99, ms', ({ refusal }) => refusal.p99Ms),
      chart('share refused', 'share', ({ refusedShare }) => refusedShare),
    ];
  });
}
