// An open loop on one server: requests leave at their planned times, whatever became of those before them. A refused client may
// come back once, when it was told to.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Member } from '../servers/fleet.ts';
import type { PeerRequest } from '../servers/peer.ts';
import type { BenchReply, PostOptions } from './client.ts';
import { isRefusal } from './closed-loop.ts';
import type { Ending, Outcome } from './goodput.ts';
import type { Work } from './loads.ts';

/** As the decision SDK gives up. */
const PATIENCE_MS = 10_000;

export interface OpenLoopOptions {
  readonly member: Pick<Member, 'running' | 'client'>;
  /** Milliseconds from the start, ascending. */
  readonly plan: readonly number[];
  readonly next: () => Work;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether refused clients come back once, if they were told when. */
  readonly comesBack: boolean;
}

export interface OpenLoopRun {
  readonly outcomes: readonly Outcome[];
  /** Of those who came back; planned at the moment they were told. */
  readonly returns: readonly Outcome[];
}

interface Planned {
  readonly dueMs: number;
  readonly request: PeerRequest;
  readonly group: string;
}

/** Resolves when every request has ended. Bodies are written before the first is sent. */
export async function runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopRun> {
  const { member, plan, next, comesBack } = options;
  const planned = plan.map((dueMs): Planned => {
    const { job, group } = next();
    return { dueMs, request: member.running.requestFor(job), group };
  });
  const startedMs = performance.now();
  const returns: Promise<Outcome>[] = [];
  const sent = planned.map(async ({ dueMs, ...rest }) => {
    const outcome = await sendAt(options, { ...rest, dueMs: startedMs + dueMs });
    const wait = 'retryAfterMs' in outcome.ending ? outcome.ending.retryAfterMs : undefined;
    if (comesBack && wait !== undefined) returns.push(sendAt(options, { ...rest, dueMs: outcome.endedMs + wait }));
    return outcome;
  });
  const outcomes = await Promise.all(sent);
  return { outcomes, returns: await Promise.all(returns) };
}

async function sendAt({ member, headers }: OpenLoopOptions, { dueMs, request, group }: Planned): Promise<Outcome> {
  // A timer may come a little early: nothing is sent before its moment.
  for (let inMs = dueMs - performance.now(); inMs > 0; inMs = dueMs - performance.now()) await sleep(inMs);
  const options: PostOptions = { headers, timeoutMs: PATIENCE_MS };
  const sentMs = performance.now();
  const reply = await member.client.post(request.path, request.body, options).catch(readFailure);
  return { group, plannedMs: dueMs, sentMs, endedMs: performance.now(), ending: endingOf(reply) };
}

function readFailure(error: unknown): 'given-up' | 'failed' {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' ? 'given-up' : 'failed';
}

function endingOf(reply: BenchReply | 'given-up' | 'failed'): Ending {
  if (typeof reply === 'string') return { kind: reply };
  if (isRefusal(reply)) return { kind: 'refused', retryAfterMs: reply.retryAfterMs };
  return { kind: reply.status === 200 ? 'answered' : 'failed' };
}
