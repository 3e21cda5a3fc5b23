// Builds the HTTP server: hooks in the order they must run, the routes, the error handler. Listening and stopping are
// the caller's.

import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { AppError } from '../domain/errors.ts';
import type { Catalog } from '../services/catalog.ts';
import type { DecideService } from '../services/decide.ts';
import type { EmbedService } from '../services/embed.ts';
import { type Authenticator, authenticationHook } from './authenticate.ts';
import { answerClientError, manageConnections } from './connections.ts';
import { allowCrossOrigin } from './cors.ts';
import { replyWithError } from './error-reply.ts';
import { observeRequests, type RequestMetrics } from './observe.ts';
import { requestIdHeaders, requestIdOf } from './request-id.ts';

export interface HttpOptions {
  /** Shown in `/openapi.json`. */
  readonly version: string;
  readonly bodyLimitBytes: number;
  /** From the first byte of a request to its last header; later is 408. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body; later is 408. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveTimeoutMs: number;
  /** Origins that browsers may call from; `*` is any, none switches CORS off. */
  readonly corsOrigins: readonly string[];
  readonly metricsRequireKey: boolean;
}

/** What `/readyz` reports. */
export type ReadinessState = 'loading' | 'ready' | 'draining' | 'unresponsive';

export interface HttpDeps {
  readonly authenticator: Authenticator;
  readonly catalog: Catalog;
  readonly decisions: DecideService;
  readonly embeddings: EmbedService;
  /** Read on every request: cheap, and `draining` from the moment the process is told to stop. */
  readonly readiness: () => ReadinessState;
  readonly metrics: RequestMetrics;
  /** pino, or anything of its shape. */
  readonly logger: FastifyBaseLogger;
  readonly options: HttpOptions;
}

/** A server that is ready to `listen` or to be called through `inject`. `close()` waits for replies that are owed. */
export async function createHttpServer(deps: HttpDeps): Promise<FastifyInstance> {
  const app = createApp(deps);
  app.decorateRequest('apiKey', null);
  app.decorateRequest('errorCode', null);
  app.setErrorHandler(replyWithError);
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'No such route.');
  });

  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(requestIdHeaders(request.id));
    done();
  });
  observeRequests(app, deps.metrics);
  manageConnections(app, () => deps.readiness() === 'draining');
  allowCrossOrigin(app, deps.options.corsOrigins);

  await app.register(
    async (api) => {
      api.addHook('onRequest', authenticationHook(deps.authenticator));
    },
    { prefix: '/ai/v1' },
  );
  await app.ready();
  return app;
}

function createApp({ options, logger }: HttpDeps): FastifyInstance {
  return Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    requestIdHeader: false,
    bodyLimit: options.bodyLimitBytes,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    http: { headersTimeout: options.headersTimeoutMs, requestTimeout: options.requestTimeoutMs },
    // Refusing while closing is ours to word: the framework's 503 has another body.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      replyWithError(error, request, reply.headers(requestIdHeaders(request.id)));
    },
    routerOptions: { maxParamLength: 1024 },
  });
}
