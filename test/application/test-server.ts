// The HTTP layer as the application builds it, around an engine of the test's own.

import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { type ApiKey, unrestrictedKey } from '../../src/domain/api-key.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { ModelCard } from '../../src/domain/model-card.ts';
import type { RequestTracer } from '../../src/domain/trace.ts';
import { MergingEngine, type MergingOptions } from '../../src/engine/sharing/merging-engine.ts';
import type { Authenticator } from '../../src/http/authenticate.ts';
import { createHttpServer, type HttpOptions } from '../../src/http/server.ts';
import type { WebFiles } from '../../src/http/web/web-files.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { Accounting } from '../../src/services/accounting/accounting.ts';
import { Unmetered } from '../../src/services/accounting/unmetered.ts';
import type { Administration } from '../../src/services/administration.ts';
import { type Aliases, Catalog } from '../../src/services/catalog.ts';
import { ChatService } from '../../src/services/chat/chat.ts';
import { InferenceService } from '../../src/services/inference/inference.ts';
import type { LearningService } from '../../src/services/learning/learning.ts';
import type { ChatUpstream } from '../../src/upstream/chat-upstream.ts';
import { testLogs } from '../log-scan/test-logs.ts';
import { createFakeEngine, type FakeEngine } from './fake-engine.ts';

/** May use everything. */
export const KEY = 'ump_test-key';
/** May use `kev` alone. */
export const KEV_KEY = 'ump_kev-key';

export const LLAMA: ModelCard = {
  id: 'llama',
  type: 'llm',
  description: 'An upstream model.',
  ownedBy: 'someone',
  releaseDate: '2026-01-01',
  price: { inputMicroUsd: 1_000_000, cachedInputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 },
};

const OPTIONS: HttpOptions = {
  version: '1.2.3',
  bodyLimitBytes: 8 * 1024 * 1024,
  decisionBodyLimitBytes: 2 * 1024 * 1024,
  learningBodyLimitBytes: 4 * 1024 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 5_000,
  writeTimeoutMs: 10_000,
  cors: [],
  trustedProxies: [],
  metricsRequireKey: false,
  shortBase: true,
  structuredState: false,
  tokenArrays: 'refuse',
};

/** Says the same to everything, and streams nothing. */
const LACONIC_UPSTREAM: ChatUpstream = {
  models: [LLAMA],
  takes: () => true,
  complete: async ({ modelId }) => ({
    bodyText: JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', model: modelId, choices: [] }),
    usage: undefined,
    outputEstimate: 0,
  }),
  expect: () => ({ inputTokens: 1, cachedTokens: 0, outputTokens: 1 }),
  stream: async () => {
    throw new AppError('upstream_error', 'The upstream streams nothing.');
  },
  close: async () => undefined,
};

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface TestServer {
  readonly app: FastifyInstance;
  readonly engine: FakeEngine;
  readonly chat: ChatService;
  /** Lines of the log, parsed. */
  readonly log: Record<string, unknown>[];
  readonly send: (method: Method, path: string, body?: unknown, headers?: Record<string, string>) => Promise<TestReply>;
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<TestReply>;
  readonly get: (path: string, headers?: Record<string, string>) => Promise<TestReply>;
}

export interface TestReply {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a reply is whatever the server sent; tests say what they expect
  readonly json: any;
}

export interface TestParts {
  readonly options?: Partial<HttpOptions>;
  readonly upstreams?: readonly ChatUpstream[];
  readonly accounting?: Accounting;
  readonly authenticator?: Authenticator;
  /** Absent: a server without a store. */
  readonly administration?: Administration;
  /** Absent: nothing is learned. */
  readonly learning?: LearningService;
  readonly aliases?: Aliases;
  /** Absent: answers are not shared. */
  readonly answers?: MergingOptions;
  /** Absent: nothing is traced. */
  readonly tracer?: RequestTracer;
  /** Absent: no pages. */
  readonly webFiles?: WebFiles;
}

export async function startTestServer(
  options: Partial<HttpOptions> = {},
  upstreams?: readonly ChatUpstream[],
  accounting?: Accounting,
): Promise<TestServer> {
  return await startServerOf({
    options,
    ...(upstreams === undefined ? {} : { upstreams }),
    ...(accounting === undefined ? {} : { accounting }),
  });
}

export async function startServerOf(parts: TestParts): Promise<TestServer> {
  const { upstreams = [LACONIC_UPSTREAM], accounting = new Unmetered(), administration } = parts;
  const engine = createFakeEngine();
  const sharing = parts.answers === undefined ? undefined : new MergingEngine(engine, parts.answers);
  const answering = sharing ?? engine;
  const catalog = new Catalog([engine, ...upstreams], administration?.prices, parts.aliases);
  const log: Record<string, unknown>[] = [];
  const appendToLog = testLogs.openLog();
  const write = (line: string): void => {
    log.push(JSON.parse(line));
    appendToLog(line);
  };
  const find = (modelId: string) => upstreams.find(({ models }) => models.some(({ id }) => id === modelId));
  const chat = new ChatService({ find }, catalog, accounting);
  const metrics = createMetrics({
    engineStatus: () => engine.status(),
    answerCounts: sharing === undefined ? undefined : () => sharing.answerCounts,
  });
  const app = await createHttpServer({
    authenticator: parts.authenticator ?? { authenticate },
    administration,
    learning: parts.learning,
    catalog,
    inference: new InferenceService(answering, catalog, accounting),
    chat,
    readiness: () => engine.state,
    isDraining: () => engine.state === 'draining',
    status: () => ({
      host: 'test',
      processId: process.pid,
      startedAtMs: 0,
      engine: engine.status(),
      answers: sharing?.answerCounts ?? null,
      requestsUnderWay: metrics.tally.underWay,
      errors: metrics.tally.errors(),
    }),
    tracer: parts.tracer,
    webFiles: parts.webFiles,
    metrics,
    logger: pino({ level: 'info' }, { write }),
    options: { ...OPTIONS, sharesAnswers: sharing !== undefined, ...parts.options },
  });
  const send: TestServer['send'] = async (method, url, payload, headers = {}) => {
    const type = payload === undefined ? {} : { 'content-type': 'application/json' };
    const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
    testLogs.keepAuthorization(headers['authorization'] ?? `Bearer ${KEY}`);
    if (typeof body === 'string') testLogs.keepBody(body);
    const reply = await app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${KEY}`, ...type, ...headers },
      ...(body === undefined ? {} : { payload: body }),
    });
    const isJson = String(reply.headers['content-type']).startsWith('application/json');
    return {
      status: reply.statusCode,
      headers: reply.headers,
      text: reply.body,
      json: isJson ? JSON.parse(reply.body) : undefined,
    };
  };
  return {
    app,
    engine,
    chat,
    log,
    send,
    post: (path, body, headers = {}) => send('POST', path, body, headers),
    get: (path, headers = {}) => send('GET', path, undefined, headers),
  };
}

async function authenticate(token: string): Promise<ApiKey> {
  if (token !== KEY && token !== KEV_KEY) throw new AppError('invalid_api_key', 'The API key is not valid.');
  return unrestrictedKey({
    id: token === KEY ? 'key_all' : 'key_kev',
    name: 'test',
    visiblePrefix: token.slice(0, 8),
    models: token === KEY ? null : ['kev'],
  });
}
