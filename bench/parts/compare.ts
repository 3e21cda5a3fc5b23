// The parts in which servers run beside each other: their fleet is started, answers are compared, all are warmed up, and then
// every part is measured on it.

import { compareAnswers } from '../answers/answers.ts';
import { runClosedSlice } from '../load/closed-loop.ts';
import { type LoadClass, type Loads, streamOf } from '../load/loads.ts';
import type { ClosedPart, ComparisonFigures, Figures, PartName, ServerFigures } from '../pages/peers-report.ts';
import { Fleet, type Member } from '../servers/fleet.ts';
import type { Peer, Task } from '../servers/peer.ts';
import { measureClosedLoops } from './closed-part.ts';
import { listCosts } from './cost.ts';
import type { Effort } from './effort.ts';
import { measureOpenLoops } from './open-part.ts';
import { measureScaling } from './scaling.ts';

const WARM_UP_MS = 1000;
const WARM_UP_CONCURRENCY = 4;

export type FleetPart = Extract<PartName, 'decisions' | 'open' | 'scaling' | 'embeddings'>;

export interface CompareOptions {
  readonly peers: readonly Peer[];
  readonly task: Task;
  readonly loads: Loads;
  readonly effort: Effort;
  readonly usdPerHour: number;
  readonly say: (text: string) => void;
  /** Runs one part, if it was asked for, and keeps what it gives. */
  readonly part: <Name extends FleetPart>(name: Name, measure: () => Promise<Figures[Name]>) => Promise<void>;
}

/** @throws if a server cannot be started, answers otherwise than ours, or ends early */
export async function compareServers(options: CompareOptions): Promise<void> {
  const { peers, task, say } = options;
  const fleet = await Fleet.start(
    peers.filter(({ tasks }) => tasks.includes(task)),
    say,
  );
  try {
    await Promise.race([measureFleet(options, fleet), fleet.lost]);
    await fleet.stop();
  } catch (error) {
    fleet.kill();
    throw error;
  }
}

async function measureFleet(options: CompareOptions, fleet: Fleet): Promise<void> {
  const { loads, task, effort, say, part } = options;
  const classes = task === 'decision' ? [...loads.decisions, ...loads.documents] : loads.embeddings;
  say('answers');
  const answers = await compareFleet(fleet);
  say('warming up');
  await warmUp(fleet, classes);
  await fleet.watchIdle();
  const describe = (used: readonly LoadClass[]): ComparisonFigures => ({
    servers: fleet.members.map(describeServer),
    answers,
    classes: used.map(({ id, title, task: of }) => ({ id, title, task: of })),
  });
  const closed = async (): Promise<ClosedPart> => {
    const { rounds, concurrencies, embeddingSliceMs, maxEmbeddingSliceMs } = effort;
    const [sliceMs, maxSliceMs] =
      task === 'embedding' ? [embeddingSliceMs, maxEmbeddingSliceMs] : [effort.sliceMs, Number.POSITIVE_INFINITY];
    const plan = { rounds, sliceMs, concurrencies, maxSliceMs };
    const { cells, leftOut } = await measureClosedLoops({ fleet, classes, ...plan, say });
    return { ...describe(classes), rounds, sliceMs, cells, leftOut, costs: listCosts(cells, options.usdPerHour) };
  };
  if (task === 'embedding') return await part('embeddings', closed);
  await part('decisions', closed);
  await part('open', async () => {
    const { openRounds: rounds, openSliceMs: sliceMs, openShares: shares, openSharesOfOthers: sharesOfOthers } = effort;
    const used = [loads.short, loads.mix];
    const figures = await measureOpenLoops({ fleet, classes: used, shares, sharesOfOthers, rounds, sliceMs, say });
    return { ...describe(used), rounds, ...figures };
  });
  await part('scaling', async () => {
    const { scalingPointMs: pointMs, hasScalingGrid: hasGrid } = effort;
    const figures = await measureScaling({ fleet, loads, pointMs, hasGrid, say });
    return { ...describe([]), ...figures };
  });
}

async function compareFleet({ members }: Fleet) {
  const ours = members.find(({ running }) => running.peer.kind === 'ours');
  if (ours === undefined) throw new Error('Answers are compared with ours: umpire must be among the servers.');
  const others = members.filter((member) => member !== ours).map(({ running }) => running);
  return await compareAnswers(ours.running, others);
}

async function warmUp(fleet: Fleet, classes: readonly LoadClass[]): Promise<void> {
  const durationMs = WARM_UP_MS / classes.length;
  for (const load of classes) {
    // Those with few clients are dear.
    const concurrency = Math.max(...load.concurrencies) > WARM_UP_CONCURRENCY ? WARM_UP_CONCURRENCY : 1;
    await fleet.inTurns(1, async (member) => {
      await runClosedSlice({ member, next: streamOf(load, 1), concurrency, durationMs });
    });
  }
}

/** When a part has ended. */
function describeServer({ running, readyMs, startedBytes, idleShare }: Member): ServerFigures {
  const { id, title, kind, settings, versions } = running.peer;
  const loadedBytes = running.server.proportionalBytes() ?? null;
  return { id, title, kind, settings, versions, readyMs, startedBytes, loadedBytes, idleShare };
}
