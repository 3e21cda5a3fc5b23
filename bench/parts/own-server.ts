// What `npm run bench` measures of our server alone, one after the other: starts, answers, memory, what it adds to its graphs, a
// document with many questions, and a grid of sizes and clients.

import { checkGolden } from '../answers/compare-answers.ts';
import { type BenchClient, type BenchReply, readTiming } from '../load/client.ts';
import { joinRuns, runClosedLoop } from '../load/closed-loop.ts';
import { Loads, seedOf, streamOf } from '../load/loads.ts';
import { median, summariseLatencies } from '../load/statistics.ts';
import { type DecisionSize, decisionJob } from '../load/workload.ts';
import { readEngineSettings, withBareLoops } from '../servers/bare-loop.ts';
import { type Member, withServers } from '../servers/fleet.ts';
import { umpire } from '../servers/umpire.ts';
import { measureBareLimit } from './bare.ts';
import { measureMemory, measurePeak } from './memory.ts';

const CONCURRENCIES = [1, 2, 4, 8, 16, 32];
const ONE_QUESTION_128: DecisionSize = { stateTokens: 128, questions: 1, kind: 'choice' };
const DOCUMENT_1000: DecisionSize = { stateTokens: 1000, questions: 8, kind: 'choice' };

export type OwnFigures = Awaited<ReturnType<typeof measureOwnServer>>;
type Say = (text: string) => void;

/** A second start is the one that counts: the first fills the cache of optimised graphs. */
export async function measureOwnServer(isQuick: boolean, say: Say) {
  const measure = async ({ own }: Readonly<Record<'own', Member>>) => {
    const { firstMs: firstStart, secondMs: secondStart } = own.readyMs;
    return { readyMs: { firstStart, secondStart }, ...(await measureMember(own, isQuick, say)) };
  };
  return await withServers({ own: umpire() }, measure, { say, startsTwice: true });
}

async function measureMember(own: Member, isQuick: boolean, say: Say) {
  const { client } = own;
  say('golden answers');
  const golden = await checkGolden(client);
  const engine = await readEngineSettings(own);
  say('memory');
  const memory = await measureMemory(own, isQuick ? 100 : 1000);
  say('overhead against bare loops');
  const latencyOverhead = await measureLatencyOverhead(own, isQuick ? 5 : 20, isQuick ? 20 : 50);
  const throughput = await measureBareLimit(own, isQuick ? 3 : 5, isQuick ? 2000 : 6000);
  say('one document, eight questions');
  await timeDecisions(client, DOCUMENT_1000, 5);
  const document = summariseLatencies(await timeDecisions(client, DOCUMENT_1000, isQuick ? 40 : 200));
  const grid = await measureGrid(own, isQuick, say);
  say('the largest documents');
  const peak = await measurePeak(own);
  return { engine, golden, memory, latencyOverhead, throughput, document, grid, peak };
}

/** @returns latencies in milliseconds, of one request after the other */
async function timeDecisions(client: BenchClient, size: DecisionSize, count: number): Promise<number[]> {
  return (await client.askInTurn(count, () => decisionJob(size))).map(({ latencyMs }) => latencyMs);
}

/** Over HTTP, and by a bare loop that runs the same graphs on the same inputs without a server: in turns, never at the same time. */
async function measureLatencyOverhead(own: Member, rounds: number, samplesPerRound: number) {
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

async function measureGrid({ client }: Member, isQuick: boolean, say: Say) {
  const cells = [];
  const durationMs = isQuick ? 1000 : 4000;
  for (const load of (await Loads.open()).grid(isQuick)) {
    for (const concurrency of isQuick ? [1, 8] : CONCURRENCIES) {
      say(`${load.id}, ${concurrency} clients`);
      const limits = { concurrency, durationMs, leastReplies: 3 * concurrency, maxMs: 5 * durationMs };
      const run = await runClosedLoop({ client, next: streamOf(load, seedOf(load.id, concurrency)), ...limits });
      const { requestsPerSecondBySlice, clientShare, ...figures } = joinRuns([run]);
      cells.push({ mix: load.id, concurrency, ...figures });
    }
  }
  return cells;
}
