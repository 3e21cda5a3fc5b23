// The parts `decisions` and `embeddings`: closed loops of every class at every concurrency, servers in turns; where one would take
// too long, it is left out and said to be. And what tokens cost at these rates.

import { joinRuns, runClosedLoop } from '../load/closed-loop.ts';
import { type LoadClass, seedOf, streamOf } from '../load/loads.ts';
import { median } from '../load/statistics.ts';
import type { Task } from '../load/workload.ts';
import { sumCpuWithEndedMs } from '../machine/processes.ts';
import type { Chart } from '../pages/charts.ts';
import { columns, formatNumber, tableOf } from '../pages/table.ts';
import type { Fleet } from '../servers/fleet.ts';
import { titlesOf } from './compared.ts';
import { type Bench, definePart, type Prices } from './part.ts';

export interface ClosedOptions {
  readonly fleet: Fleet;
  readonly classes: readonly LoadClass[];
  readonly rounds: number;
  readonly sliceMs: number;
  /** Those of a class that are not in here are left out. */
  readonly concurrencies: readonly number[];
  /** A server whose slice would take longer, by what its requests took with fewer clients, is left out. The fewest never are. */
  readonly maxSliceMs: number;
  readonly say: (text: string) => void;
}

export type ClosedCell = Awaited<ReturnType<typeof measureRow>>[number];

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
      const dearNames = tooDear.map(({ peer }) => peer);
      const peers = fleet.members.map(({ name }) => name).filter((name) => !dearNames.includes(name));
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

interface Limits extends Pick<LeftOut, 'load' | 'concurrency'> {
  readonly durationMs: number;
  readonly maxSliceMs: number;
}

/** @param costs what a request took with fewer clients, by server @returns those of which a slice would take too long */
export function listLeftOut(
  costs: ReadonlyMap<string, number>,
  { load, concurrency, durationMs, maxSliceMs }: Limits,
): LeftOut[] {
  const all = [...costs].map(([peer, requestMs]) => {
    return { peer, load, concurrency, requestMs, sliceMs: expectSliceMs({ requestMs, concurrency, durationMs }) };
  });
  return all.filter(({ sliceMs }) => sliceMs > maxSliceMs);
}

/** An answer for each client before what counts, at least one for each that counts, and those still in flight at its end. */
export function expectSliceMs(plan: { requestMs: number; concurrency: number; durationMs: number }): number {
  const { requestMs, concurrency, durationMs } = plan;
  return (2 * concurrency - 1) * requestMs + Math.max(durationMs, concurrency * requestMs);
}

interface Row {
  readonly load: LoadClass;
  readonly concurrency: number;
  readonly peers: readonly string[];
}

/** One cell of each of `peers`. */
async function measureRow({ fleet, rounds, sliceMs: durationMs }: ClosedOptions, { load, concurrency, peers }: Row) {
  const runs = await fleet.inTurns(rounds, async ({ name, client, process: running }, round) => {
    if (!peers.includes(name)) return undefined;
    const stream = streamOf(load, seedOf(load.id, concurrency, round));
    let asked = 0;
    const next: typeof stream = () => {
      asked++;
      return stream();
    };
    const cpuBeforeMs = sumCpuWithEndedMs(running.pids());
    const run = await runClosedLoop({ client, next, concurrency, durationMs });
    return { ...run, cpuMs: (sumCpuWithEndedMs(running.pids()) - cpuBeforeMs) / asked };
  });
  return [...runs].map(([peer, some]) => {
    /** What the server's processes spent on a request: hardly moved by what else the machine does. */
    const cpuMs = median(some.map((run) => run.cpuMs));
    return { peer, load: load.id, concurrency, cpuMs, ...joinRuns(some) };
  });
}

/** Ours over others, in slices of the same round: what disturbed one disturbed the other. Between the middle two, if there are two. */
export function medianRatio(ours: ClosedCell, other: ClosedCell): number {
  const ratios = ours.requestsPerSecondBySlice
    .map((value, round) => value / (other.requestsPerSecondBySlice[round] ?? Number.NaN))
    .sort((a, b) => a - b);
  const middle = ratios.length / 2;
  return ((ratios[Math.ceil(middle) - 1] ?? Number.NaN) + (ratios[Math.floor(middle)] ?? Number.NaN)) / 2;
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

interface ClosedKind {
  readonly title: string;
  readonly task: Task;
  /** Each in full, and in the short form. */
  readonly sliceMs: readonly [full: number, quick: number];
  readonly maxSliceMs: readonly [full: number, quick: number];
  /** What is drawn. */
  readonly unit: 'requests' | 'tokens';
}

export type ClosedFigures = Awaited<ReturnType<typeof measureClosedPart>>;

async function measureClosedPart(bench: Bench, kind: ClosedKind) {
  const { fleet, concurrencies, say } = bench;
  const [rounds, sliceMs] = [bench.rounds(2, 1), bench.effort(...kind.sliceMs)];
  const maxSliceMs = bench.effort(...kind.maxSliceMs);
  const classes = bench.loads.classesOf(kind.task);
  const plan = { fleet, classes, concurrencies, rounds, sliceMs, maxSliceMs, say };
  const { cells, leftOut } = await measureClosedLoops(plan);
  const described = classes.map(({ id, title, task }) => ({ id, title, task }));
  const costs = listCosts(cells, bench.usdPerHour);
  return { ...bench.compared(), classes: described, rounds, sliceMs, cells, leftOut, costs };
}

function closedPart(kind: ClosedKind) {
  return definePart({
    title: kind.title,
    task: kind.task,
    measure: (bench) => measureClosedPart(bench, kind),
    write: writeClosedLoops,
    draw: (figures) => drawClosedLoops(figures, kind.unit),
  });
}

export const decisions = closedPart({
  title: 'Decisions, closed loop',
  task: 'decision',
  sliceMs: [1500, 600],
  maxSliceMs: [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  unit: 'requests',
});

/** There are five servers, and some are slow. */
export const embeddings = closedPart({
  title: 'Embeddings, closed loop',
  task: 'embedding',
  sliceMs: [1000, 600],
  maxSliceMs: [10_000, 3000],
  unit: 'tokens',
});

function writeClosedLoops(figures: ClosedFigures, prices: Prices): string[] {
  const { rounds, sliceMs, classes } = figures;
  const titleOf = titlesOf(figures);
  const titled = <T extends { readonly peer: string }>(rows: readonly T[]) =>
    rows.map((row) => ({ ...row, server: titleOf(row.peer) }));
  const [cells, leftOut, costs] = [titled(figures.cells), titled(figures.leftOut), titled(figures.costs)];
  const sold = Object.entries(prices).map(([model, usd]) => `\`${model}\` $${usd}`);
  return [
    `${rounds} rounds of slices of ${sliceMs} ms, servers in turns.`,
    classes.map(({ id, title }) => `- **${id}**: ${title}`).join('\n'),
    tableOf(cells, {
      ...columns('load', 'at a time', 'server', 'req/s', 'tokens/s', 'p50 ms', 'p95 ms', 'p99 ms', 'answers'),
      ...columns('refused', 'errors', 'client'),
    }),
    ...(leftOut.length === 0
      ? []
      : [
          'Left out, because one slice would have taken too long by what a request took with fewer clients:',
          tableOf(leftOut, {
            ...columns('load', 'at a time', 'server'),
            'a request takes, ms': ({ requestMs }) => requestMs,
            'a slice would take, s': (row) => row.sliceMs / 1000,
          }),
        ]),
    `Cost of a million tokens at the best concurrency; the price in the shipped manifests: ${sold.join(', ')}.`,
    tableOf(costs, {
      ...columns('load', 'server', 'at a time', 'tokens/s'),
      'cost of 1 M tokens': ({ usdPerMillionTokens }) => `$${usdPerMillionTokens.toFixed(5)}`,
    }),
  ];
}

/** Classes that were measured at one concurrency alone are no line. */
function drawClosedLoops({ servers, cells: all }: ClosedFigures, unit: ClosedKind['unit']): Chart[] {
  const loads = [...Map.groupBy(all, ({ load }) => load)].filter(
    ([, cells]) => new Set(cells.map(({ concurrency }) => concurrency)).size > 1,
  );
  return loads.flatMap(([load, cells]) => {
    const chart = (yLabel: string, yScale: Chart['yScale'], yOf: (cell: ClosedCell) => number): Chart => ({
      title: `${load}: ${yLabel}`,
      xLabel: 'requests at a time',
      yLabel,
      xScale: 'log',
      yScale,
      series: servers.map(({ id, title: name }) => ({
        name,
        points: cells.filter(({ peer }) => peer === id).map((cell) => ({ x: cell.concurrency, y: yOf(cell) })),
      })),
    });
    return [
      chart(`${unit}/s`, 'linear', (cell) => (unit === 'tokens' ? cell.tokensPerSecond : cell.requestsPerSecond)),
      chart('p99, ms', 'log', ({ latency }) => latency.p99Ms),
    ];
  });
}
