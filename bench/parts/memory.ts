// The server's memory. For `npm run bench`: after warm-up, after a thousand decisions, and at the largest document a model takes.
// The part `memory`: what it is made of, one worker, a second one, kept documents.

import type { BenchClient } from '../load/client.ts';
import { runClosedLoop } from '../load/closed-loop.ts';
import { streamOf } from '../load/loads.ts';
import { decisionJob, makeRandom } from '../load/workload.ts';
import { withFolder } from '../machine/folder.ts';
import { tableOf, toMegabytes } from '../pages/table.ts';
import { type Member, withServers } from '../servers/fleet.ts';
import { umpire } from '../servers/umpire.ts';
import { type Bench, definePart } from './part.ts';

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
export async function measureMemory({ process, client }: Member, decisions: number) {
  const random = makeRandom(512);
  const afterWarmUpBytes = process.memoryUse()?.residentBytes ?? null;
  const lengths = Array.from({ length: decisions }, () => 1 + Math.floor(random() * 512));
  await sendDecisions(client, lengths);
  const use = process.memoryUse();
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
export async function measurePeak({ process, client }: Member) {
  await sendDecisions(
    client,
    Array.from({ length: 8 }, () => LARGEST_STATE_TOKENS),
  );
  const use = process.memoryUse();
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

/** Before and after decisions of the short class and the mix. All starts have one folder. */
async function measureWorkerMemory({ loads, effort }: Bench, folder: string) {
  const durationMs = effort(5000, 1500);
  const figures = [];
  for (const { workers, keepsDocuments } of STARTS) {
    const settings = {
      UMPIRE_ENGINE_WORKERS: String(workers),
      ...(keepsDocuments ? {} : { UMPIRE_ENGINE_STATE_CACHE_BYTES: '0' }),
    };
    const servers = { own: umpire({ settings, hasLimits: true }) };
    const underLoad = async ({ own: { process, client, startedBytes } }: Readonly<Record<'own', Member>>) => {
      for (const load of [loads.short, loads.mix])
        await runClosedLoop({ client, next: streamOf(load, 99), concurrency: IN_FLIGHT, durationMs });
      return { workers, keepsDocuments, startedBytes, loadedBytes: process.proportionalBytes() };
    };
    figures.push(await withServers(servers, underLoad, { folder }));
  }
  return figures.slice(1);
}

export const memory = definePart({
  title: 'Memory of our server',
  measure: (bench) => withFolder((folder) => measureWorkerMemory(bench, folder)),
  write: (figures) => [
    'Proportional set size: shared pages count once. After decisions of the short class and the mix, four at a time.',
    tableOf(figures, {
      workers: ({ workers }) => workers,
      'keeps documents': ({ keepsDocuments }) => (keepsDocuments ? 'yes' : 'no'),
      'ready, MB': ({ startedBytes }) => toMegabytes(startedBytes),
      'after load, MB': ({ loadedBytes }) => toMegabytes(loadedBytes),
    }),
  ],
});
