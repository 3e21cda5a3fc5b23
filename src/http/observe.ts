// What is recorded of each request: one log line and one sample for the metrics. Texts, names and keys are not.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CLIENT_LEFT } from '../domain/errors.ts';
import { formatUsd } from '../domain/money.ts';
import type { RequestSample } from '../domain/request-sample.ts';
import type { Usage } from '../domain/usage.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What it used and cost, for its log line; null: nothing that is known. */
    billedWork: BilledWork | null;
  }
}

export interface BilledWork {
  readonly modelId: string;
  readonly usage: Usage | undefined;
  /** undefined: it is not billed. */
  readonly costPicoUsd: bigint | undefined;
}

export interface TokenMetrics {
  countTokens(modelId: string, usage: Usage): void;
}

/** Where samples go; implemented in observability/metrics.ts and handed in by the composition root. */
export interface RequestMetrics extends TokenMetrics {
  requestStarted(): void;
  requestFinished(sample: RequestSample): void;
  /** The Prometheus text format, with its content type. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Asked every few seconds by machines, or dozens of times by one page; their lines would hide all others. */
export const QUIET_ROUTES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics', '/assets/*']);

/** Runs before every other hook, so that refused requests are recorded too. */
export function observeRequests(app: FastifyInstance, metrics: RequestMetrics): void {
  app.addHook('onRequest', (request, reply, done) => {
    const startMs = performance.now();
    metrics.requestStarted();
    // Not the framework's own hook: that one does not run when the client leaves before its reply. This comes after both.
    reply.raw.once('close', () => {
      const sample = sampleOf(request, reply, performance.now() - startMs);
      metrics.requestFinished(sample);
      const { durationMs, errorCode, ...rest } = sample;
      const line = { ...rest, durationMs: Math.round(durationMs * 10) / 10, code: errorCode ?? undefined };
      const traceId = request.span?.traceId;
      const level = QUIET_ROUTES.has(sample.route) ? 'debug' : 'info';
      request.log[level]({ ...line, ...workFields(request.billedWork), keyId: request.apiKey?.id, traceId }, 'request');
    });
    done();
  });
}

function workFields(work: BilledWork | null): Record<string, unknown> {
  if (work === null) return {};
  const { modelId, usage, costPicoUsd } = work;
  return {
    model: modelId,
    inputTokens: usage?.inputTokens,
    outputTokens: usage?.outputTokens,
    costUsd: costPicoUsd === undefined ? undefined : formatUsd(costPicoUsd),
  };
}

/** As it is registered: a path may hold anything. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}

/** Of a reply that is closed. */
export function statusOf(reply: FastifyReply): number {
  return reply.raw.writableEnded ? reply.raw.statusCode : STATUS_CLIENT_LEFT;
}

function sampleOf(request: FastifyRequest, reply: FastifyReply, durationMs: number): RequestSample {
  return {
    method: request.method,
    route: routeOf(request),
    status: statusOf(reply),
    errorCode: request.errorCode,
    durationMs,
  };
}
