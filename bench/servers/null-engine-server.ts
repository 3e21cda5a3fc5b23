// The server's HTTP layer, services, accounting and store around an engine that answers at once: what they can carry
// without a model. Run with the server's own environment; the argument `unmetered` leaves keys and ledger out. Ends on
// SIGTERM.

import { openConfiguredStores } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { ModelCard } from '../../src/domain/model-card.ts';
import type { DecideJob, DecideResult, EmbedJob, Engine, Ticket } from '../../src/engine/engine.ts';
import type { Authenticator } from '../../src/http/authenticate.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { Accounting } from '../../src/services/accounting/accounting.ts';
import { LedgerAccounting } from '../../src/services/accounting/ledger-accounting.ts';
import { Unmetered } from '../../src/services/accounting/unmetered.ts';
import { Catalog } from '../../src/services/catalog.ts';
import { ChatService } from '../../src/services/chat/chat.ts';
import { InferenceService } from '../../src/services/inference/inference.ts';
import { ApiKeyService } from '../../src/services/keys/keys.ts';
import { DECISION_MODEL } from '../load/workload.ts';
import { letEverybodyIn } from './let-everybody-in.ts';

const INSTANCE_ID = 'instance_bench';
const TOKENS = 140;
const CARD: ModelCard = {
  id: DECISION_MODEL,
  type: 'decision',
  description: 'Answers at once.',
  ownedBy: 'bench',
  releaseDate: '2026-01-01',
  price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 },
};

const engine: Engine = {
  models: [CARD],
  ticketFor: (job: DecideJob | EmbedJob) => ticketOf(job) as Ticket<never>,
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
  }),
  drain: async () => undefined,
};

function ticketOf(job: DecideJob | EmbedJob): Ticket<DecideResult> {
  if ('inputs' in job) throw new Error('Nobody embeds here.');
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

interface Guard {
  readonly authenticator: Authenticator;
  readonly accounting: Accounting;
  close(): Promise<void>;
}

const loaded = loadConfig({ flags: {} });
const { config } = loaded;
const logger = createLogger({ level: config.log.level, format: 'json' });
const metrics = createMetrics({ engineStatus: engine.status });

async function openGuard(): Promise<Guard> {
  if (process.argv[2] === 'unmetered') {
    return { authenticator: letEverybodyIn, accounting: new Unmetered(), close: async () => undefined };
  }
  const stores = await openConfiguredStores(config, true);
  await stores.ledger.beat(INSTANCE_ID, Date.now());
  const accounting = new LedgerAccounting({
    ...config.ledger,
    idempotency: config.idempotency,
    store: stores.ledger,
    instanceId: INSTANCE_ID,
    metrics,
    onFault: (error) => logger.error({ err: error }, 'an outcome could not be written to the ledger'),
  });
  const close = async (): Promise<void> => {
    await accounting.stop();
    await stores.ledger.leave(INSTANCE_ID);
    await stores.close();
  };
  return { authenticator: new ApiKeyService({ store: stores.keys }), accounting, close };
}

const { authenticator, accounting, close } = await openGuard();
const catalog = new Catalog([engine]);
const server = await createHttpServer({
  authenticator,
  catalog,
  inference: new InferenceService(engine, catalog, accounting),
  chat: new ChatService([], catalog, accounting),
  readiness: () => 'ready',
  isDraining: () => false,
  metrics,
  logger,
  options: { ...config.http, ...config.decisions, ...config.embeddings, version: 'bench' },
});
await server.listen({ host: config.host, port: config.port });
process.once('SIGTERM', async () => {
  await server.close();
  await close();
  process.exit(0);
});
