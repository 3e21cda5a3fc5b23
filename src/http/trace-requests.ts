// The span of each request, from its head to the end of its reply, with the reading of its body as a part. Who is traced,
// the tracer decides; what happens to a request, its other spans say.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestSpan, RequestTracer, SpanFacts, TraceSpan } from '../domain/trace.ts';
import { QUIET_ROUTES, routeOf, statusOf } from './observe.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** null: nothing is traced, or nothing of this route. */
    span: RequestSpan | null;
    /** Of a body that is being read and checked. */
    parseSpan: TraceSpan | null;
  }
}

const FIRST_FAULT_STATUS = 500;

/** Runs before every other hook, so that their time and their refusals are in the span. */
export function traceRequests(app: FastifyInstance, tracer: RequestTracer | undefined): void {
  app.decorateRequest('span', null);
  app.decorateRequest('parseSpan', null);
  if (tracer === undefined) return;
  app.addHook('onRequest', (request, reply, done) => {
    const { method, headers } = request;
    const route = routeOf(request);
    if (!QUIET_ROUTES.has(route)) {
      const span = tracer.beginRequest({ method, route, headers });
      if (span === undefined) return done();
      request.span = span;
      reply.raw.once('close', () => {
        request.parseSpan?.end();
        const status = statusOf(reply);
        span.finish(factsOf(request, status), status >= FIRST_FAULT_STATUS);
      });
    }
    done();
  });
  app.addHook('preParsing', (request, _reply, _body, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (length !== undefined || encoding !== undefined) {
      const bytes = length === undefined ? undefined : Number(length);
      request.parseSpan = request.span?.begin('parse', { 'http.request.body.size': bytes }) ?? null;
    }
    done();
  });
  app.addHook('preHandler', (request, _reply, done) => {
    request.parseSpan?.end();
    done();
  });
  app.addHook('onError', (request, _reply, error, done) => {
    request.parseSpan?.end(error);
    done();
  });
}

function factsOf(request: FastifyRequest, status: number): SpanFacts {
  const work = request.billedWork;
  return {
    'http.response.status_code': status,
    'error.type': request.errorCode ?? undefined,
    'gen_ai.request.model': work?.modelId,
    'gen_ai.usage.input_tokens': work?.usage?.inputTokens,
    'gen_ai.usage.output_tokens': work?.usage?.outputTokens,
  };
}
