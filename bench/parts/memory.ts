// The server's memory. For `npm run bench`: after warm-up, after a thousand decisions, and at the largest document a model takes.
// The part `memory`: what it is made of, one worker, a second one, kept documents.

import type { BenchClient } from '../load/client.ts';
import { runClosedLoop } from '../load/closed-loop.ts';
import { type Loads, streamOf } from '../load/loads.ts';
import { decisionJob, makeRandom } from '../load/workload.ts';
import { type OwnServer, withFolder, withUmpire } from '../servers/umpire.ts';

const DECISIONS = 1000;
const LARGEST_STATE_TOKENS = 8192;
const IN_FLIGHT = 4;
/** The first start of all fills the cache of optimised graphs, which costs memory of its own: its figures are left out. */
const STARTS = [
  { workers: 2, keepsDocuments: false },
  { workers: 1, keepsDocuments: false },
  { workers: 2, keepsDocuments: false },
  { workers: 2, keepsDocuments: true },
];

/** Resident bytes; null where the operating system does not say. */
export async function measureMemory({ server, client }: OwnServer, isQuick: boolean) {
  const decisions = isQuick ? DECISIONS / 10 : DECISIONS;
  const random = makeRandom(512);
  const afterWarmUpBytes = server.memoryUse()?.residentBytes ?? null;
  const lengths = Array.from({ length: decisions }, () => 1 + Math.floor(random() * 512));
  await sendDecisions(client, lengths);
  const use = server.memoryUse();
  return {
    afterWarmUpBytes,
    decisions,
    /** After decisions of 1 to 512 tokens of state, four at a time. */
    afterDecisionsBytes: use?.residentBytes ?? null,
    /** The same with pages that several workers map counted once. */
    afterDecisionsDistinctBytes: use?.distinctBytes ?? null,
  };
}

/** Last of all: what was once taken for a giant document may stay with the process. */
export async function measurePeak({ server, client }: OwnServer) {
  const lengths = Array.from({ length: 8 }, () => LARGEST_STATE_TOKENS);
  await sendDecisions(client, lengths);
  const use = server.memoryUse();
  return {
    stateTokens: LARGEST_STATE_TOKENS,
    /** The highest the process ever reached, with such documents four at a time; and what stayed afterwards. */
    peakBytes: use?.peakBytes ?? null,
    afterBytes: use?.residentBytes ?? null,
  };
}

async function sendDecisions(client: BenchClient, lengthsTokens: readonly number[]): Promise<void> {
  const waiting = lengthsTokens.values();
  const sendRest = async (): Promise<void> => {
    for (const stateTokens of waiting) await client.askUntilLetIn(decisionJob({ stateTokens, questions: 1 }));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sendRest));
}

/** Shared pages count once. Before and after decisions of the short class and the mix, four at a time. */
export async function measureWorkerMemory(loads: Loads, durationMs: number) {
  return await withFolder(async (dataFolder) => {
    const figures = [];
    for (const { workers, keepsDocuments } of STARTS) {
      const kept = keepsDocuments ? {} : { UMPIRE_ENGINE_STATE_CACHE_BYTES: '0' };
      const settings = { UMPIRE_ENGINE_WORKERS: String(workers), ...kept };
      const bytes = await withUmpire({ settings, dataFolder }, async ({ server, client }) => {
        const startedBytes = server.proportionalBytes();
        for (const load of [loads.short, loads.mix])
          await runClosedLoop({ client, next: streamOf(load, 99), concurrency: IN_FLIGHT, durationMs });
        return { startedBytes, loadedBytes: server.proportionalBytes() };
      });
      figures.push({ workers, keepsDocuments, ...bytes });
    }
    return figures.slice(1);
  });
}
