// The closed loop: each of n clients sends its next request when it has its answer. Runs of one cell, which take turns with those
// of others, are put together at the end.

import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchClient, type BenchReply, isRefusal, readRetryAfterMs } from './client.ts';
import { median, sum, summariseLatencies } from './statistics.ts';
import { requestFor, type Work } from './workload.ts';

const MAX_WAIT_MS = 1000;

export interface ClosedLoopOptions {
  readonly client: Pick<BenchClient, 'post'>;
  readonly next: () => Work;
  readonly concurrency: number;
  /** Counted from the end of the ramp. */
  readonly durationMs: number;
  /** Replies after the ramp that it goes on for; default: one for each client. */
  readonly leastReplies?: number;
  /** But no longer than this, from the start. */
  readonly maxMs?: number;
}

export type ClosedRun = Awaited<ReturnType<typeof runClosedLoop>>;

/** The first answer of each client is the ramp and is left out, with the time it took. */
export async function runClosedLoop(options: ClosedLoopOptions) {
  const { client, next, concurrency, durationMs, leastReplies = concurrency } = options;
  const { maxMs = Math.max(40_000, 10 * durationMs) } = options;
  const counts = { latenciesMs: [] as number[], tokens: 0, refused: 0, errors: 0 };
  const startedMs = performance.now();
  const cpuBefore = process.cpuUsage();
  let [seen, rampEndMs, endMs, isOver] = [0, startedMs, startedMs, false];
  const count = (reply: BenchReply | undefined, tokens: number): void => {
    // It ran beside fewer clients than it should, and does not count.
    if (isOver) return;
    endMs = performance.now();
    seen++;
    if (seen <= concurrency) rampEndMs = endMs;
    else if (isRefusal(reply)) counts.refused++;
    else if (reply?.status !== 200) counts.errors++;
    else {
      counts.latenciesMs.push(reply.latencyMs);
      counts.tokens += tokens;
    }
    const hasEnough = seen >= concurrency + leastReplies && endMs - rampEndMs >= durationMs;
    isOver = hasEnough || endMs - startedMs > maxMs;
  };
  const runClient = async (): Promise<void> => {
    while (!isOver) {
      const { job, tokens } = next();
      const { path, body } = requestFor(job);
      const reply = await client.post(path, body).catch(() => undefined);
      count(reply, tokens);
      if (isRefusal(reply)) await sleep(Math.min(readRetryAfterMs(reply) ?? MAX_WAIT_MS, MAX_WAIT_MS));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runClient));
  const { user, system } = process.cpuUsage(cpuBefore);
  /** CPU of the bench's own process, as a share of one core. */
  const clientShare = (user + system) / 1000 / (performance.now() - startedMs);
  return { ...counts, elapsedMs: endMs - rampEndMs, clientShare };
}

export function joinRuns(runs: readonly ClosedRun[]) {
  const elapsedMs = sum(runs.map((run) => run.elapsedMs));
  const latenciesMs = runs.flatMap((run) => run.latenciesMs);
  const perSecond = (count: number, ms: number): number => (count / ms) * 1000;
  return {
    requestsPerSecond: perSecond(latenciesMs.length, elapsedMs),
    /** Of each run, in the order they were measured. */
    requestsPerSecondBySlice: runs.map((run) => perSecond(run.latenciesMs.length, run.elapsedMs)),
    tokensPerSecond: perSecond(sum(runs.map(({ tokens }) => tokens)), elapsedMs),
    latency: summariseLatencies(latenciesMs),
    refused: sum(runs.map(({ refused }) => refused)),
    errors: sum(runs.map(({ errors }) => errors)),
    clientShare: median(runs.map((run) => run.clientShare)),
  };
}
