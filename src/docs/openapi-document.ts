// docs/openapi.json: what a server of this version answers to GET /openapi.json.

import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { configSchema } from '../config/schema.ts';
import type { Engine } from '../engine/engine.ts';
import { createHttpServer } from '../http/server.ts';
import { createMetrics } from '../observability/metrics.ts';
import { Unmetered } from '../services/accounting/unmetered.ts';
import { AuditService } from '../services/audit.ts';
import { Catalog } from '../services/catalog.ts';
import { ChatService } from '../services/chat/chat.ts';
import { InferenceService } from '../services/inference/inference.ts';
import { ApiKeyService } from '../services/keys/keys.ts';
import { LearningService } from '../services/learning/learning.ts';
import { PriceService } from '../services/prices.ts';
import { ReloadService } from '../services/reload.ts';
import { UsageService } from '../services/reports/reports.ts';
import type { KeyStore } from '../storage/stores.ts';

/** `paths`, a path, its methods; `components`, their kind, their names. */
const OPERATION_DEPTH = 3;

export async function renderOpenapiDocument(): Promise<string> {
  const server = await createHttpServer(describedDeps());
  const reply = await server.inject('/openapi.json');
  await server.close();
  return `${renderLines(JSON.parse(reply.body), OPERATION_DEPTH)}\n`;
}

/** @returns JSON with a line for each member of the outer `depth` objects: changes are seen by operation and by component */
function renderLines(value: unknown, depth: number): string {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, inner]) => `${JSON.stringify(name)}: ${renderLines(inner, depth - 1)}`,
  );
  return `{\n${members.join(',\n')}\n}`;
}

/** Routes are described without a model or a key; nothing here is ever called. */
function describedDeps(): Parameters<typeof createHttpServer>[0] {
  const { http, learning } = configSchema.parse({});
  const catalog = new Catalog([]);
  return {
    authenticator: { authenticate: notServed },
    catalog,
    inference: new InferenceService(emptyEngine, catalog, new Unmetered()),
    chat: new ChatService({ find: () => undefined }, catalog, new Unmetered()),
    administration: {
      keys: new ApiKeyService({ store: emptyKeys }),
      prices: new PriceService({ store: { insert: notServed, list: notServed } }),
      usage: new UsageService({
        usage: { sum: notServed, rows: notServed, latency: notServed, ended: notServed, rollUp: notServed },
        ledger: { standing: notServed },
      }),
      audit: new AuditService({ append: notServed, list: notServed }),
    },
    learning: new LearningService({
      learner: { start: () => ({ ended: notServed(), stop: () => undefined }) },
      models: { list: () => [], load: notServed, remove: notServed, findIdFault: () => undefined },
      audit: { record: notServed },
      journal: { read: notServed, write: notServed },
      maxRows: () => learning.maxRows,
      onEvent: () => undefined,
    }),
    reloads: new ReloadService({ reloading: { reload: notServed }, audit: { record: notServed } }),
    readiness: () => 'ready',
    isDraining: () => false,
    status: () => {
      throw new Error('Nothing is served here.');
    },
    metrics: createMetrics({ engineStatus: emptyEngine.status }),
    logger: pino({ level: 'silent' }),
    options: {
      version: packageVersion(),
      bodyLimitBytes: http.bodyLimitBytes,
      decisionBodyLimitBytes: http.decisionBodyLimitBytes,
      learningBodyLimitBytes: learning.bodyLimitBytes,
      headersTimeoutMs: 1000,
      requestTimeoutMs: 1000,
      keepAliveTimeoutMs: 1000,
      writeTimeoutMs: 1000,
      cors: [],
      trustedProxies: [],
      metricsRequireKey: false,
      shortBase: true,
      structuredState: false,
      tokenArrays: 'refuse',
    },
  };
}

const emptyKeys: KeyStore = {
  insert: notServed,
  findByHash: notServed,
  listSecretHashes: notServed,
  findById: notServed,
  list: notServed,
  update: notServed,
  revoke: notServed,
  rotate: notServed,
  count: notServed,
};

const emptyEngine: Engine = {
  models: [],
  ticketFor: () => ({ countTokens: notServed, enter: () => undefined, run: notServed }),
  drain: async () => undefined,
  status: () => {
    throw notAsked();
  },
};

function notAsked(): Error {
  return new Error('Only the description is asked of this server.');
}

async function notServed(): Promise<never> {
  throw notAsked();
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
