// What `npm run bench -- --device NAME` measures: our server on a device beside the same on the processor. Answers first; then
// what both take by calls at a time, what becomes of twice as much as each can take, and what a run of more or fewer tokens brings.

import {
  askAll,
  BESIDE_FULL_PRECISION,
  BESIDE_INT8,
  countShared,
  findParityFault,
  listParityJobs,
  type Parity,
  readAnswers,
  reckonParity,
} from '../answers/parity.ts';
import { runClosedLoop } from '../load/closed-loop.ts';
import { type LoadClass, Loads, streamOf } from '../load/loads.ts';
import { readDevices } from '../machine/device-memory.ts';
import { withFolder } from '../machine/folder.ts';
import { ToldFault } from '../machine/told-fault.ts';
import { BATCH_TOKENS, DeviceServers } from '../servers/device-servers.ts';
import { type Fleet, type Member, withServers } from '../servers/fleet.ts';
import type { Server } from '../servers/server.ts';
import { type ClosedCell, measureClosedLoops, medianRatio } from './closed.ts';
import { capacitiesIn, measureCapacities, measureShare } from './open.ts';

/** Enough at a time for runs to be shared. */
const PARITY_CONCURRENCY = 16;
const WARM_UP_MS = 1000;

export interface DeviceBench {
  readonly device: string;
  readonly isQuick: boolean;
  readonly say: (text: string) => void;
}

/** How much of everything. */
interface Effort {
  readonly classes: readonly LoadClass[];
  readonly rounds: number;
  readonly sliceMs: number;
  readonly maxSliceMs: number;
  readonly concurrencies: readonly number[];
  /** Where capacity is measured, and batches. */
  readonly concurrency: number;
  /** Of the capacity. */
  readonly shares: readonly number[];
}

export type DeviceFigures = Awaited<ReturnType<typeof measureDevice>>;

/** @throws ToldFault where the device answers otherwise than the processor */
export function measureDevice(bench: DeviceBench) {
  return withFolder((graphCache) => measureServers(new DeviceServers(bench.device, graphCache), bench));
}

async function measureServers(servers: DeviceServers, { device, isQuick, say }: DeviceBench) {
  const effort = planEffort(await Loads.open(), isQuick);
  const memory = new MemoryNotes();
  const measure = async (members: Readonly<Record<'device' | 'processor', Member>>, fleet: Fleet) => {
    memory.take('both servers are ready');
    const parity = await compareAnswers(members, servers.exact(), say);
    await warmUp(fleet, effort.classes);
    await fleet.watchIdle();
    const throughput = await measureThroughput(fleet, effort, say);
    memory.take('after as many calls at a time');
    const overload = await measureOverload(fleet, effort, say);
    memory.take('after overload');
    return { parity, throughput, overload, servers: fleet.members.map(describeMember) };
  };
  const beside = await withServers(servers.beside(), measure, { say, startsTwice: true });
  const bySize = servers.byBatch(isQuick ? BATCH_TOKENS.filter((_, place) => place % 2 === 0) : BATCH_TOKENS);
  const batches = await withServers(bySize, (_, fleet) => measureBatches(fleet, effort, say), { say });
  memory.take('after runs of all sizes, with all their servers');
  return { device, ...beside, batches, memory: memory.notes };
}

function planEffort({ short, medium, mix, embeddings }: Loads, isQuick: boolean): Effort {
  const [embedOne, embedEight] = embeddings;
  const all = [short, medium, mix, embedOne, embedEight].filter((load) => load !== undefined);
  const concurrencies = isQuick ? [1, 8] : [1, 4, 16, 64, 256];
  const some = isQuick ? [short, embedOne].filter((load) => load !== undefined) : all;
  return {
    classes: some.map((load) => ({ ...load, concurrencies })),
    concurrencies,
    rounds: isQuick ? 1 : 3,
    sliceMs: isQuick ? 600 : 2000,
    maxSliceMs: isQuick ? 15_000 : 20_000,
    concurrency: isQuick ? 8 : 64,
    shares: isQuick ? [2] : [0.7, 1, 2],
  };
}

/** What the driver tells of all memory in use; nothing of it where it does not tell. */
class MemoryNotes {
  readonly notes: { readonly moment: string; readonly devices: ReturnType<typeof readDevices> }[] = [];

  constructor() {
    this.take('before anything was started');
  }

  take(moment: string): void {
    this.notes.push({ moment, devices: readDevices() });
  }
}

/** Many at a time on the device, so that they share runs; on the processor each is answered by itself whoever else asks. */
async function compareAnswers(
  { device, processor }: Readonly<Record<'device' | 'processor', Member>>,
  exactServer: Server,
  say: DeviceBench['say'],
) {
  const jobs = await listParityJobs();
  const answersOf = async ({ client }: Member) => {
    const replies = await askAll(client, jobs, PARITY_CONCURRENCY);
    return { answers: readAnswers(jobs, replies), sharedReplies: countShared(replies) };
  };
  say('answers of the device');
  const own = await answersOf(device);
  say('answers of the processor');
  const int8 = reckonParity((await answersOf(processor)).answers, own.answers);
  say('answers of the processor in full precision');
  const exact = await withServers({ exact: exactServer }, ({ exact: member }) => answersOf(member));
  const full = reckonParity(exact.answers, own.answers);
  requireParity('the same graphs in full precision', full, BESIDE_FULL_PRECISION);
  requireParity('int8 on the processor', int8, BESIDE_INT8);
  return { requests: jobs.length, sharedReplies: own.sharedReplies, full, int8 };
}

function requireParity(against: string, parity: Parity, limits: Parameters<typeof findParityFault>[1]): void {
  const fault = findParityFault(parity, limits);
  if (fault !== undefined) throw new ToldFault(`Nothing was measured: beside ${against}, ${fault}.`);
}

async function warmUp(fleet: Fleet, classes: readonly LoadClass[]): Promise<void> {
  const durationMs = WARM_UP_MS / classes.length;
  for (const load of classes)
    await fleet.inTurns(1, ({ client }) =>
      runClosedLoop({ client, next: streamOf(load, 1), concurrency: PARITY_CONCURRENCY, durationMs }),
    );
}

async function measureThroughput(fleet: Fleet, effort: Effort, say: DeviceBench['say']) {
  const { cells, leftOut } = await measureClosedLoops({ fleet, ...effort, say });
  return { rounds: effort.rounds, sliceMs: effort.sliceMs, cells, leftOut, ratios: listRatios(cells) };
}

/** The device over the processor, where both were measured: with as many calls at a time, and each with as many as suit it best. */
export function listRatios(cells: readonly ClosedCell[]) {
  return [...Map.groupBy(cells, ({ load }) => load)].flatMap(([load, all]) => {
    const [own, other] = ['device', 'processor'].map((peer) => all.filter((cell) => cell.peer === peer));
    const ratios = (own ?? []).flatMap((cell) => {
      const beside = other?.find(({ concurrency }) => concurrency === cell.concurrency);
      return beside === undefined ? [] : [{ load, concurrency: cell.concurrency, ratio: medianRatio(cell, beside) }];
    });
    const [bestOwn, bestOther] = [bestOf(own ?? []), bestOf(other ?? [])];
    if (bestOwn === undefined || bestOther === undefined) return ratios;
    return [...ratios, { load, concurrency: 'best of each', ratio: medianRatio(bestOwn, bestOther) }];
  });
}

function bestOf(cells: readonly ClosedCell[]): ClosedCell | undefined {
  return cells.toSorted((a, b) => b.requestsPerSecond - a.requestsPerSecond)[0];
}

async function measureOverload(fleet: Fleet, effort: Effort, say: DeviceBench['say']) {
  const { sliceMs, rounds, concurrency, shares } = effort;
  const classes = effort.classes.filter(({ id }) => ['short', 'mix', 'embed-1'].includes(id));
  const capacities: Awaited<ReturnType<typeof measureCapacities>> = [];
  const cells: Awaited<ReturnType<typeof measureShare>> = [];
  for (const load of classes) {
    say(`open loop: capacity for ${load.id}`);
    const own = await measureCapacities(fleet, load, { durationMs: sliceMs, concurrency });
    capacities.push(...own);
    for (const share of shares) {
      say(`open loop: ${load.id} at ${share} × capacity`);
      const offer = { fleet, load, sliceMs, capacityOf: capacitiesIn(own) };
      cells.push(...(await measureShare(offer, { share, rounds, withOthers: true })));
    }
  }
  return { rounds, sliceMs, concurrency, capacities, cells };
}

/** Each size of run by itself, in turns; ratios to runs of one row. */
async function measureBatches(fleet: Fleet, effort: Effort, say: DeviceBench['say']) {
  const classes = effort.classes
    .filter(({ id }) => ['short', 'embed-1'].includes(id))
    .map((load) => ({ ...load, concurrencies: [effort.concurrency] }));
  await warmUp(fleet, classes);
  const { cells } = await measureClosedLoops({
    fleet,
    ...effort,
    classes,
    concurrencies: [effort.concurrency],
    maxSliceMs: Number.POSITIVE_INFINITY,
    say,
  });
  const [alone] = fleet.members;
  return cells.map((cell) => {
    const first = cells.find(({ peer, load }) => peer === alone?.name && load === cell.load);
    return { ...cell, ratio: first === undefined ? Number.NaN : medianRatio(cell, first) };
  });
}

function describeMember({ name, server, process, readyMs, startedBytes }: Member) {
  return { name, settings: server.settings, readyMs, startedBytes, loadedBytes: process.proportionalBytes() };
}
