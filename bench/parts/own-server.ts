// What `npm run bench` measures of our server alone, one after the other: starts, answers, memory, what it adds to its graphs, a
// document with many questions, and a grid of sizes and clients.

import { checkGolden } from '../answers/compare-answers.ts';
import { joinRuns, runClosedLoop } from '../load/closed-loop.ts';
import { Loads, seedOf, streamOf } from '../load/loads.ts';
import { summariseLatencies } from '../load/statistics.ts';
import type { DecisionSize } from '../load/workload.ts';
import { readEngineSettings } from '../servers/bare-loop.ts';
import { type OwnServer, withFolder, withUmpire } from '../servers/umpire.ts';
import { measureBareLimit } from './bare.ts';
import { measureLatencyOverhead, timeDecisions } from './latency.ts';
import { measureMemory, measurePeak } from './memory.ts';

const CONCURRENCIES = [1, 2, 4, 8, 16, 32];
const DOCUMENT_1000: DecisionSize = { stateTokens: 1000, questions: 8, kind: 'choice' };

export type OwnFigures = Awaited<ReturnType<typeof measureOwnServer>>;
type Say = (text: string) => void;

/** A second start is the one that counts: the first fills the cache of optimised graphs. */
export async function measureOwnServer(isQuick: boolean, say: Say) {
  return await withFolder(async (dataFolder) => {
    say('first start');
    const start = { dataFolder, isMetered: false };
    const firstStart = await withUmpire(start, async ({ server }) => server.readyMs);
    say('second start');
    return await withUmpire(start, async (own) => {
      return { readyMs: { firstStart, secondStart: own.server.readyMs }, ...(await measure(own, isQuick, say)) };
    });
  });
}

async function measure(own: OwnServer, isQuick: boolean, say: Say) {
  const { client } = own;
  say('golden answers');
  const golden = await checkGolden(client);
  const engine = await readEngineSettings(own);
  say('memory');
  const memory = await measureMemory(own, isQuick);
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

async function measureGrid({ client }: OwnServer, isQuick: boolean, say: Say) {
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
