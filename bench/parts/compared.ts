// Servers that run beside each other: they are started, answers are compared, all are warmed up alike; then they are measured.

import { type AnswerCases, type AnswerComparison, compareAnswers } from '../answers/compare-answers.ts';
import { runClosedLoop } from '../load/closed-loop.ts';
import { type LoadClass, streamOf } from '../load/loads.ts';
import { type Fleet, type Member, withServers } from '../servers/fleet.ts';
import type { Server } from '../servers/server.ts';

const WARM_UP_MS = 1000;
const WARM_UP_CONCURRENCY = 4;

/** A server as it was measured in one part. */
export type ServerFigures = ReturnType<typeof describeServer>;

/** Of every part in which servers run beside each other. */
export interface Compared {
  readonly servers: readonly ServerFigures[];
  readonly answers: readonly AnswerComparison[];
}

export interface ComparedServers {
  readonly fleet: Fleet;
  compared(): Compared;
}

interface CompareOptions {
  readonly servers: readonly Server[];
  /** What they are warmed up with. */
  readonly classes: readonly LoadClass[];
  /** What their answers are compared by; default: the cases of the shipped models. */
  readonly cases?: AnswerCases;
  /** Default: yes. */
  readonly startsTwice?: boolean;
  readonly say: (text: string) => void;
}

/** @throws if a server cannot be started, answers otherwise than ours, or ends early */
export async function withComparedServers<T>(
  { servers, classes, cases, startsTwice = true, say }: CompareOptions,
  use: (compared: ComparedServers) => Promise<T>,
): Promise<T> {
  const byId = Object.fromEntries(servers.map((server) => [server.id, server]));
  const measure = async (fleet: Fleet): Promise<T> => {
    say('answers');
    const answers = await compareAnswers(fleet.members, cases);
    say('warming up');
    await warmUp(fleet, classes);
    await fleet.watchIdle();
    return await use({ fleet, compared: () => ({ servers: fleet.members.map(describeServer), answers }) });
  };
  return await withServers(byId, (_, fleet) => measure(fleet), { say, startsTwice });
}

async function warmUp(fleet: Fleet, classes: readonly LoadClass[]): Promise<void> {
  const durationMs = WARM_UP_MS / classes.length;
  for (const load of classes) {
    // Those with few clients are dear.
    const concurrency = Math.max(...load.concurrencies) > WARM_UP_CONCURRENCY ? WARM_UP_CONCURRENCY : 1;
    await fleet.inTurns(1, ({ client }) => runClosedLoop({ client, next: streamOf(load, 1), concurrency, durationMs }));
  }
}

function describeServer({ server, process, readyMs, startedBytes, idleShare }: Member) {
  const { id, title, kind, settings, versions } = server;
  /** All processes, shared pages once, after the part's load. */
  const loadedBytes = process.proportionalBytes();
  return { id, title, kind, settings, versions, readyMs, startedBytes, loadedBytes, idleShare };
}

/** Of a server by its id. */
export function titlesOf({ servers }: Pick<Compared, 'servers'>): (id: string) => string {
  return (id) => servers.find((server) => server.id === id)?.title ?? id;
}
