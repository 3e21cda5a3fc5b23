// GET /admin/v1/status: how the server that answers fares.

import type { FastifyInstance } from 'fastify';
import type { ServerStatus } from '../../services/server-status.ts';
import { operation } from '../operation.ts';
import { serverStatusSchema, toWireStatus } from '../schemas/server-status.ts';
import { strictFields } from '../schemas/strict-fields.ts';
import type { ReadinessState } from './service.ts';

export interface AdminStatusDeps {
  readonly status: () => ServerStatus;
  readonly readiness: () => ReadinessState;
  /** Of umpire. */
  readonly version: string;
}

const schema = operation(
  {
    operationId: 'getServerStatus',
    summary: 'How this server fares',
    description: [
      'Workers, queue, caches and refusals of the process that answers. Counts are in its memory: a restart begins at zero,',
      'and behind a load balancer each reply is of one server.',
    ].join(' '),
    tag: 'Administration',
    errors: [],
  },
  { querystring: strictFields('query', {}), response: { 200: serverStatusSchema } },
);

export async function adminStatusRoute(api: FastifyInstance, deps: AdminStatusDeps): Promise<void> {
  const { status, readiness, version } = deps;
  api.get('/status', { schema }, async () => toWireStatus(status(), { version, state: readiness() }));
}
