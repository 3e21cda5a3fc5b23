// The parts in which servers run beside each other: their fleet is started, answers are compared, all are warmed up alike, and
// then every part is measured on it.

import { compareAnswers } from '../answers/compare-answers.ts';
import { runClosedLoop } from '../load/closed-loop.ts';
import { type LoadClass, type Loads, streamOf } from '../load/loads.ts';
import type { Task } from '../load/workload.ts';
import type { ClosedPart, Compared, Figures, PartName, ServerFigures } from '../pages/peers-report.ts';
import { type Fleet, type Member, withFleet } from '../servers/fleet.ts';
import type { Server } from '../servers/server.ts';
import { listCosts, measureClosedLoops } from './closed.ts';
import type { Effort } from './effort.ts';
import { measureOpenLoops } from './open.ts';
import { measureScaling } from './scaling.ts';

const WARM_UP_MS = 1000;
const WARM_UP_CONCURRENCY = 4;

export interface CompareOptions {
  readonly servers: readonly Server[];
  readonly task: Task;
  readonly loads: Loads;
  readonly effort: Effort;
  readonly usdPerHour: number;
  readonly say: (text: string) => void;
  /** Runs one part, if it was asked for, and keeps what it gives. */
  readonly part: <Name extends PartName>(name: Name, measure: () => Promise<Figures[Name]>) => Promise<void>;
}

/** @throws if a server cannot be started, answers otherwise than ours, or ends early */
export async function compareServers(options: CompareOptions): Promise<void> {
  const able = options.servers.filter(({ tasks }) => tasks.includes(options.task));
  await withFleet(able, options.say, (fleet) => measureFleet(options, fleet));
}

async function measureFleet(options: CompareOptions, fleet: Fleet): Promise<void> {
  const { loads, task, effort, say, part } = options;
  const classes = task === 'decision' ? [...loads.decisions, ...loads.documents] : loads.embeddings;
  say('answers');
  const answers = await compareAnswers(fleet.members);
  say('warming up');
  await warmUp(fleet, classes);
  await fleet.watchIdle();
  const describe = (used: readonly LoadClass[]): Compared => ({
    servers: fleet.members.map(describeServer),
    answers,
    classes: used.map(({ id, title, task: of }) => ({ id, title, task: of })),
  });
  const closed = async (sliceMs: number, maxSliceMs: number): Promise<ClosedPart> => {
    const { rounds, concurrencies } = effort;
    const plan = { fleet, classes, rounds, sliceMs, concurrencies, maxSliceMs, say };
    const { cells, leftOut } = await measureClosedLoops(plan);
    return { ...describe(classes), rounds, sliceMs, cells, leftOut, costs: listCosts(cells, options.usdPerHour) };
  };
  if (task === 'embedding')
    return await part('embeddings', () => closed(effort.embeddingSliceMs, effort.maxEmbeddingSliceMs));
  await part('decisions', () => closed(effort.sliceMs, Number.POSITIVE_INFINITY));
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

async function warmUp(fleet: Fleet, classes: readonly LoadClass[]): Promise<void> {
  const durationMs = WARM_UP_MS / classes.length;
  for (const load of classes) {
    // Those with few clients are dear.
    const concurrency = Math.max(...load.concurrencies) > WARM_UP_CONCURRENCY ? WARM_UP_CONCURRENCY : 1;
    await fleet.inTurns(1, async ({ client }) => {
      await runClosedLoop({ client, next: streamOf(load, 1), concurrency, durationMs });
    });
  }
}

/** When a part has ended. */
function describeServer({ server, process, readyMs, startedBytes, idleShare }: Member): ServerFigures {
  const { id, title, kind, settings, versions } = server;
  const loadedBytes = process.proportionalBytes();
  return { id, title, kind, settings, versions, readyMs, startedBytes, loadedBytes, idleShare };
}
