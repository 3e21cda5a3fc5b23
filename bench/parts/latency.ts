// What the server adds to one decision: over HTTP and by a bare loop that runs the same graphs on the same inputs without a
// server. Both sides take turns, so that a busy machine disturbs both alike.

import { type BenchClient, type BenchReply, readTiming } from '../load/client.ts';
import { median, summariseLatencies } from '../load/statistics.ts';
import { type DecisionSize, decisionJob } from '../load/workload.ts';
import { withBareLoops } from '../servers/bare-loop.ts';
import type { OwnServer } from '../servers/umpire.ts';

export const ONE_QUESTION_128: DecisionSize = { stateTokens: 128, questions: 1, kind: 'choice' };

/** @returns latencies in milliseconds, of one request after the other */
export async function timeDecisions(client: BenchClient, size: DecisionSize, count: number): Promise<number[]> {
  return (await client.askInTurn(count, () => decisionJob(size))).map(({ latencyMs }) => latencyMs);
}

/** One client, one loop, never at the same time. */
export async function measureLatencyOverhead(own: OwnServer, rounds: number, samplesPerRound: number) {
  const replies: BenchReply[] = [];
  const bareMs: number[] = [];
  await withBareLoops(own, ONE_QUESTION_128, async (loops) => {
    for (let round = 0; round < rounds; round++) {
      replies.push(...(await own.client.askInTurn(samplesPerRound, () => decisionJob(ONE_QUESTION_128))));
      bareMs.push(...(await loops.runAlone(samplesPerRound)));
    }
  });
  const http = summariseLatencies(replies.map(({ latencyMs }) => latencyMs));
  const bareLoop = summariseLatencies(bareMs);
  const p50Of = (part: 'queue' | 'tokenize' | 'infer'): number =>
    median(replies.map((reply) => readTiming(reply, part)));
  /** What the server says of its own time; what is missing to the time over HTTP is HTTP, threads and client. */
  const serverP50Ms = { queue: p50Of('queue'), tokenize: p50Of('tokenize'), infer: p50Of('infer') };
  return { http, bareLoop, p50OverheadMs: http.p50Ms - bareLoop.p50Ms, serverP50Ms };
}
