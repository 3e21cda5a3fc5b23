// The server with parts left out, as its arguments say, run with the server's own environment; ends on SIGTERM. `model`: its
// engine answers at once, to show what all around a model can carry. `accounting`: whoever calls is let in, nothing is written.

import { buildApp, openServer } from '../../src/app/app.ts';
import { cacheFolderOf } from '../../src/app/configured-engine.ts';
import { loadConfig } from '../../src/config/load.ts';
import { unrestrictedKey } from '../../src/domain/api-key.ts';
import type { DecideResult, Job, Ticket } from '../../src/engine/engine.ts';
import type { LocalEngine } from '../../src/engine/local-engine.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { DECISION_MODEL } from '../load/workload.ts';

const TOKENS = 140;
const PRICE = { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 };

const NULL_ENGINE: LocalEngine = {
  models: [
    {
      id: DECISION_MODEL,
      type: 'decision',
      description: 'Answers at once.',
      ownedBy: 'bench',
      releaseDate: '2026-01-01',
      price: PRICE,
    },
  ],
  ready: Promise.resolve(),
  ticketFor: (job: Job) => ticketOf(job) as Ticket<never>,
  status: () => ({
    state: 'ready',
    queuedJobs: 0,
    queuedCostMs: 0,
    busyWorkers: 0,
    workers: 0,
    threadsPerWorker: 0,
    device: 'none',
    stateCache: { stateTokens: 0, keptTokens: 0 },
    refusals: { jobs: 0, cost: 0, wait: 0, late: 0 },
    expectedDrainMs: 0,
    models: [],
    memory: { takenBytes: 0, budgetBytes: 0 },
  }),
  limitQueue: () => undefined,
  drain: async () => undefined,
};

function ticketOf(job: Job): Ticket<DecideResult> {
  if (!('questions' in job)) throw new Error('Whoever asks here wants a decision.');
  return {
    countTokens: async () => TOKENS,
    enter: () => undefined,
    run: async () => ({
      answers: job.questions.map(() => ({ type: 'noul', noul: 0.5 })),
      inputTokens: TOKENS,
      timings: { queueMs: 0, tokenizeMs: 0, inferMs: 0 },
      source: { answer: 'run', keptTokens: 0 },
    }),
  };
}

const leftOut = process.argv.slice(2);
const loaded = loadConfig({ flags: {} });
const { config } = loaded;
const parts = {
  version: 'bench',
  logger: createLogger({ level: config.log.level, format: 'json' }),
  ...(leftOut.includes('model') ? { engine: NULL_ENGINE } : {}),
};
const everybody = unrestrictedKey({ id: 'key_bench', name: 'bench' });
const unmetered = { authenticator: { authenticate: async () => everybody }, cacheFolder: cacheFolderOf(config) };
const app = leftOut.includes('accounting')
  ? await buildApp(loaded, { ...parts, ...unmetered })
  : await openServer(loaded, parts);
await app.http.listen({ host: config.host, port: config.port });
process.once('SIGTERM', async () => {
  await app.stop();
  process.exit(0);
});
