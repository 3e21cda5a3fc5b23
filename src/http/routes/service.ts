// The routes that no API key is needed for: is the process alive, does it take work, its metrics, its description.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ServerStatus } from '../../services/server-status.ts';
import { type Authenticator, authenticationHook } from '../authenticate.ts';
import type { RequestMetrics } from '../observe.ts';
import { operation } from '../operation.ts';
import { modelStatusSchema, toWireModelStatus } from '../schemas/model-status.ts';

/** What `/readyz` reports. */
export type ReadinessState = 'loading' | 'ready' | 'draining' | 'unresponsive';

export interface ServiceDeps {
  readonly authenticator: Authenticator;
  readonly readiness: () => ReadinessState;
  readonly status: () => ServerStatus;
  readonly metrics: RequestMetrics;
  readonly metricsRequireKey: boolean;
}

const readinessSchema = z
  .object({
    status: z.enum(['loading', 'ready', 'draining', 'unresponsive']).describe('`ready`: it takes work.'),
    models: z
      .array(modelStatusSchema)
      .describe(
        'The local models. One that is not loaded is, by the first request for it. A learned one that cannot be served holds up nobody.',
      ),
  })
  .meta({ id: 'Readiness', description: 'Whether the server takes work, and if not, why.' });

const healthSchema = operation(
  {
    operationId: 'health',
    summary: 'Is the process alive?',
    description: 'Answers at once, whatever else is going on. It says nothing of models or the store.',
    tag: 'Service',
    errors: [],
    needsKey: false,
  },
  { response: { 200: z.object({ status: z.literal('ok').describe('It is.') }).describe('It is.') } },
);

const readySchema = operation(
  {
    operationId: 'ready',
    summary: 'Does the server take work?',
    description:
      'For whoever decides where requests go: 200 once the models of the start are loaded, 503 before, and while it stops.',
    tag: 'Service',
    errors: [],
    needsKey: false,
  },
  { response: { 200: readinessSchema, 503: readinessSchema } },
);

const metricsSchema = operation(
  {
    operationId: 'metrics',
    summary: 'Metrics in the Prometheus text format',
    description: 'A key is needed only where the configuration says so.',
    tag: 'Service',
    errors: ['invalid_api_key'],
    needsKey: false,
  },
  { response: { 200: z.string().describe('Metrics.') }, produces: ['text/plain'] },
);

export async function serviceRoutes(app: FastifyInstance, deps: ServiceDeps): Promise<void> {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/healthz', { schema: healthSchema }, async () => ({ status: 'ok' as const }));
  typed.get('/readyz', { schema: readySchema }, async (_request, reply) => {
    const status = deps.readiness();
    return reply
      .code(status === 'ready' ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status, models: deps.status().engine.models.map(toWireModelStatus) });
  });
  const onRequest = deps.metricsRequireKey ? [authenticationHook(deps.authenticator)] : [];
  app.get('/metrics', { schema: metricsSchema, onRequest }, async (_request, reply) => {
    const { contentType, text } = await deps.metrics.render();
    return reply.type(contentType).send(text);
  });
}
