// The open loop: requests leave at their planned times, whatever became of those before them. A refused client may come back
// once, when it was told to.

import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchClient, type BenchReply, isRefusal, readRetryAfterMs } from './client.ts';
import type { Ending, Outcome } from './goodput.ts';
import { makeRandom, requestFor, type Work } from './workload.ts';

/** As the decision SDK gives up. */
const PATIENCE_MS = 10_000;

export interface ArrivalPlan {
  readonly requestsPerSecond: number;
  readonly durationMs: number;
  /** None: the same time between all of them. */
  readonly seed?: number;
}

/** A Poisson process: gaps are exponential, −ln(1 − u) ÷ rate. @returns milliseconds from the start, ascending */
export function planArrivals({ requestsPerSecond, durationMs, seed }: ArrivalPlan): number[] {
  if (!(requestsPerSecond > 0)) throw new RangeError(`${requestsPerSecond} requests a second cannot be planned.`);
  const random = seed === undefined ? undefined : makeRandom(seed);
  const nextGapMs = (): number => ((random ? -Math.log(1 - random()) : 1) / requestsPerSecond) * 1000;
  const times: number[] = [];
  for (let atMs = nextGapMs(); atMs < durationMs; atMs += nextGapMs()) times.push(atMs);
  return times;
}

export interface OpenLoopOptions {
  readonly client: BenchClient;
  /** Milliseconds from the start, ascending. */
  readonly plan: readonly number[];
  readonly next: () => Work;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether refused clients come back once, if they were told when. */
  readonly comesBack?: boolean;
}

interface Planned extends ReturnType<typeof requestFor> {
  readonly dueMs: number;
  readonly group: string;
}

/**
 * Resolves when every request has ended. Bodies are written before the first is sent.
 * @returns outcomes, and those of who came back: planned at the moment they were told
 */
export async function runOpenLoop(options: OpenLoopOptions) {
  const { plan, next, comesBack = false } = options;
  const planned = plan.map((dueMs): Planned => {
    const { job, group } = next();
    return { dueMs, ...requestFor(job), group };
  });
  const startedMs = performance.now();
  const returns: Promise<Outcome>[] = [];
  const sent = planned.map(async (request) => {
    const outcome = await sendAt(options, { ...request, dueMs: startedMs + request.dueMs });
    const wait = 'retryAfterMs' in outcome.ending ? outcome.ending.retryAfterMs : undefined;
    if (comesBack && wait !== undefined) returns.push(sendAt(options, { ...request, dueMs: outcome.endedMs + wait }));
    return outcome;
  });
  const outcomes = await Promise.all(sent);
  return { outcomes, returns: await Promise.all(returns) };
}

async function sendAt({ client, headers }: OpenLoopOptions, { dueMs, path, body, group }: Planned): Promise<Outcome> {
  // A timer may come a little early: nothing is sent before its moment.
  for (let inMs = dueMs - performance.now(); inMs > 0; inMs = dueMs - performance.now()) await sleep(inMs);
  const sentMs = performance.now();
  const ending = await client.post(path, body, { headers, timeoutMs: PATIENCE_MS }).then(endingOf, endingOfFailure);
  return { group, plannedMs: dueMs, sentMs, endedMs: performance.now(), ending };
}

function endingOf(reply: BenchReply): Ending {
  if (isRefusal(reply)) return { kind: 'refused', retryAfterMs: readRetryAfterMs(reply) };
  return { kind: reply.status === 200 ? 'answered' : 'failed' };
}

function endingOfFailure(error: unknown): Ending {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return { kind: code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' ? 'given-up' : 'failed' };
}
