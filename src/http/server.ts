// Builds the HTTP server: hooks in the order they must run, the routes, the error handler. Listening and stopping are
// the caller's.

import { getHeapStatistics } from 'node:v8';
import { serializerCompiler } from '@fastify/type-provider-zod';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { KeyScope } from '../domain/api-key.ts';
import type { RequestTracer } from '../domain/trace.ts';
import type { Administration } from '../services/administration.ts';
import type { Catalog } from '../services/catalog.ts';
import type { ChatService } from '../services/chat/chat.ts';
import type { InferenceService } from '../services/inference/inference.ts';
import { KeyRoom } from '../services/key-room.ts';
import type { LearningService } from '../services/learning/learning.ts';
import type { ReloadService } from '../services/reload.ts';
import type { ServerStatus } from '../services/server-status.ts';
import { type Authenticator, authenticationHook } from './authenticate.ts';
import { BodyIntake } from './body-intake.ts';
import { type BodyLimitsByRoute, bodyLimitsByRoute } from './body-limits.ts';
import { compressReplies } from './compress-replies.ts';
import { answerClientError, manageConnections } from './connections.ts';
import { allowCrossOrigin } from './cors.ts';
import { replyWithError } from './error-reply.ts';
import { observeRequests, type RequestMetrics } from './observe.ts';
import { describeApi } from './openapi.ts';
import { checkRequestHeads } from './request-head.ts';
import { requestIdHeaders, requestIdOf } from './request-id.ts';
import { normalisePath } from './request-path.ts';
import { adminRoutes } from './routes/admin.ts';
import { chatCompletionsRoute } from './routes/chat-completions.ts';
import { completionsRoute } from './routes/completions.ts';
import { embeddingsRoute } from './routes/embeddings.ts';
import { modelsRoutes } from './routes/models.ts';
import { rerankRoute } from './routes/rerank.ts';
import { responsesRoute } from './routes/responses.ts';
import { type ReadinessState, serviceRoutes } from './routes/service.ts';
import { systemoneRoute } from './routes/systemone.ts';
import { usageRoute } from './routes/usage.ts';
import type { TokenArrays } from './schemas/embedding-request.ts';
import { scopeHook } from './scope.ts';
import { traceRequests } from './trace-requests.ts';
import { type RefuseUnknownRoute, unknownRouteHandler } from './unknown-route.ts';
import { validatorCompiler } from './validate.ts';
import type { WebFiles } from './web/web-files.ts';
import { webRoutes } from './web/web-routes.ts';

/** What a body becomes may be some times as large as what was counted for it. */
const PARTS_OF_HEAP = 8;

export interface HttpOptions {
  /** Shown in `/openapi.json`. */
  readonly version: string;
  /** Largest body of any route. */
  readonly bodyLimitBytes: number;
  /** Largest body of a decision. */
  readonly decisionBodyLimitBytes: number;
  /** Largest body of labelled rows. */
  readonly learningBodyLimitBytes: number;
  /** Memory for bodies that are being read or wait to be let go. Default: an eighth of what the heap may take. */
  readonly bodiesBytes?: number | undefined;
  /** From the first byte of a request to its last header; later is 408. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body; later is 408. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveTimeoutMs: number;
  /** A client that takes in nothing of its reply for that long is disconnected. */
  readonly writeTimeoutMs: number;
  /** Origins that browsers may call from; `*` is any, none switches CORS off. */
  readonly cors: readonly string[];
  /** Proxies whose `X-Forwarded-For` says who calls: addresses, or networks as `10.0.0.0/8`. */
  readonly trustedProxies: readonly string[];
  readonly metricsRequireKey: boolean;
  /** Whether `/v1/…` is the same as `/ai/v1/…`. */
  readonly shortBase: boolean;
  /** Whether a decision's `state` may be an object or array. */
  readonly structuredState: boolean;
  /** Whether an embedding's `input` may be token ids: those of the model's own tokenizer. */
  readonly tokenArrays: TokenArrays;
  /** Whether answers may be shared between identical requests, so that replies say if theirs was. Default: no. */
  readonly sharesAnswers?: boolean;
}

/** What may change while the server runs. */
export type ReloadableOptions = Pick<
  HttpOptions,
  'bodyLimitBytes' | 'decisionBodyLimitBytes' | 'learningBodyLimitBytes' | 'cors'
>;

export interface HttpDeps {
  readonly authenticator: Authenticator;
  readonly catalog: Catalog;
  readonly inference: InferenceService;
  readonly chat: ChatService;
  /** Absent: there is no store behind this server, and none of the routes that need one. */
  readonly administration?: Administration | undefined;
  /** Absent: nothing is learned over HTTP. */
  readonly learning?: LearningService | undefined;
  /** Absent: its configuration is read once. */
  readonly reloads?: ReloadService | undefined;
  /** `draining` from the moment the process is told to stop. */
  readonly readiness: () => ReadinessState;
  /** Whether that is so; read several times a request. */
  readonly isDraining: () => boolean;
  /** How this process fares. */
  readonly status: () => ServerStatus;
  readonly metrics: RequestMetrics;
  /** Absent: nothing is traced. */
  readonly tracer?: RequestTracer | undefined;
  /** Absent: there are no pages. */
  readonly webFiles?: WebFiles | undefined;
  /** pino, or anything of its shape. */
  readonly logger: FastifyBaseLogger;
  readonly options: HttpOptions;
  /** As they are now. Default: as in `options`. */
  readonly reloadable?: () => ReloadableOptions;
}

/** A server that is ready to `listen` or to be called through `inject`. `close()` waits for replies that are owed. */
export async function createHttpServer(deps: HttpDeps): Promise<FastifyInstance> {
  const app = createApp(deps);
  app.decorateRequest('apiKey', null);
  app.decorateRequest('errorCode', null);
  app.decorateRequest('billedWork', null);
  app.decorateRequest('idempotency', null);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(replyWithError);
  app.removeAllContentTypeParsers();
  const refuseUnknownRoute = unknownRouteHandler(app);
  app.setNotFoundHandler(refuseUnknownRoute);

  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(requestIdHeaders(request.id));
    done();
  });
  traceRequests(app, deps.tracer);
  observeRequests(app, deps.metrics);
  // Before anything refuses: a page can read a refusal only if it may.
  const current = deps.reloadable ?? (() => deps.options);
  await allowCrossOrigin(app, () => current().cors);
  manageConnections(app, {
    writeTimeoutMs: deps.options.writeTimeoutMs,
    isDraining: deps.isDraining,
  });
  checkRequestHeads(app);
  const bodies = bodiesOf(deps.options, current);
  bodies.intake.attach(app);
  await compressReplies(app);
  // After every `onRequest`, so that the caller is known where the routes around ask for a key; before a body is read,
  // and before the framework has its say about methods that it knows and no route takes.
  app.addHook('preParsing', (request, reply, _body, done) => {
    if (request.is404) refuseUnknownRoute(request, reply);
    done();
  });

  await describeApi(app, { version: deps.options.version, bodyLimits: bodies.limits });
  await app.register(serviceRoutes, { ...deps, metricsRequireKey: deps.options.metricsRequireKey });
  const { administration, catalog } = deps;
  const keyRoom = administration && new KeyRoom({ catalog, usage: administration.usage });
  await app.register((api) => apiRoutes(api, { ...deps, bodies, keyRoom }, refuseUnknownRoute), { prefix: '/ai/v1' });
  if (administration !== undefined) {
    const register = async (api: FastifyInstance): Promise<void> => {
      guardRoutes(api, { authenticator: deps.authenticator, scope: 'admin', refuseUnknownRoute });
      const { intake, limits } = bodies;
      const { status, readiness, options } = deps;
      const told = { status, readiness, version: options.version };
      const { learning, reloads } = deps;
      await adminRoutes(api, { ...administration, ...told, learning, reloads, catalog, intake, bodyLimits: limits });
    };
    await app.register(register, { prefix: '/admin/v1' });
  }
  if (deps.webFiles !== undefined) await app.register(webRoutes, deps.webFiles);
  await app.ready();
  return app;
}

interface Guard {
  readonly authenticator: Authenticator;
  readonly scope: KeyScope;
  readonly refuseUnknownRoute: RefuseUnknownRoute;
}

/** Who calls, whether they may, whether the route exists: in this order, and before a body is read. */
function guardRoutes(api: FastifyInstance, { authenticator, scope, refuseUnknownRoute }: Guard): void {
  api.addHook('onRequest', authenticationHook(authenticator));
  api.addHook('onRequest', scopeHook(scope));
  // Without this an unknown route under the prefix would be refused before its caller is known.
  api.setNotFoundHandler(refuseUnknownRoute);
}

interface Bodies {
  readonly intake: BodyIntake;
  readonly limits: BodyLimitsByRoute;
}

interface InferenceDeps extends HttpDeps {
  readonly keyRoom: KeyRoom | undefined;
  readonly bodies: Bodies;
}

function bodiesOf(options: HttpOptions, current: () => ReloadableOptions): Bodies {
  const totalBytes = options.bodiesBytes ?? Math.round(getHeapStatistics().heap_size_limit / PARTS_OF_HEAP);
  return {
    intake: new BodyIntake({ totalBytes, keyBytes: totalBytes / 2 }),
    limits: bodyLimitsByRoute(current, options.tokenArrays),
  };
}

/** Everything behind the scope `inference`. */
async function apiRoutes(
  api: FastifyInstance,
  deps: InferenceDeps,
  refuseUnknownRoute: RefuseUnknownRoute,
): Promise<void> {
  guardRoutes(api, { authenticator: deps.authenticator, scope: 'inference', refuseUnknownRoute });
  const { intake, limits } = deps.bodies;
  await api.register(modelsRoutes, deps);
  if (deps.administration !== undefined) await api.register(usageRoute, deps.administration);
  const { structuredState, tokenArrays, sharesAnswers: tellsSharing = false } = deps.options;
  await api.register(systemoneRoute, { ...deps, intake, bodyLimits: limits.decisions, structuredState, tellsSharing });
  await api.register(embeddingsRoute, { ...deps, intake, bodyLimits: limits.embeddings, tokenArrays, tellsSharing });
  await api.register(rerankRoute, { ...deps, intake, bodyLimits: limits.reranking, tellsSharing });
  const { writeTimeoutMs } = deps.options;
  for (const route of [chatCompletionsRoute, completionsRoute, responsesRoute])
    await api.register(route, { ...deps, intake, bodyLimits: limits.chat, writeTimeoutMs });
}

function createApp({ options, logger }: HttpDeps): FastifyInstance {
  return Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 && [...options.trustedProxies],
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    http: {
      // Checked in request-head.ts: Node's own refusal has no body.
      requireHostHeader: false,
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      // Node's own is 30 s: the time limits above would be no more than a suggestion.
      connectionsCheckingInterval: Math.ceil(Math.min(options.headersTimeoutMs, options.requestTimeoutMs) / 4),
    },
    // Refusing while closing is ours to word: the framework's 503 has another body.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      replyWithError(error, request, reply.headers(requestIdHeaders(request.id)));
    },
    routerOptions: { maxParamLength: 1024 },
    rewriteUrl: ({ url = '' }) => normalisePath(url, options.shortBase),
  });
}
