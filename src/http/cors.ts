// Cross-origin access for browsers, off unless origins are configured. A hook of our own: the package for it brings
// options that nothing here needs.

import type { FastifyInstance } from 'fastify';
import { EVERY_REPLY, INFERENCE_REPLY, TRY_AGAIN } from './openapi-headers.ts';
import { ALL_METHODS } from './unknown-route.ts';

/** Every header that is described. */
const EXPOSED = Object.keys({ ...EVERY_REPLY, ...INFERENCE_REPLY, ...TRY_AGAIN }).join(', ');
const ALLOWED_HEADERS = 'authorization, content-type, idempotency-key, x-request-id, x-umpire-deadline-ms';
const PREFLIGHT_MAX_AGE_SECONDS = '600';

/** @param origins exact origins such as `https://app.example.com`, or `*` for any; none: no header is ever sent */
export function allowCrossOrigin(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const any = origins.includes('*');
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers;
    reply.header('vary', 'Origin');
    if (origin === undefined || !(any || origins.includes(origin))) return;
    reply.header('access-control-allow-origin', any ? '*' : origin);
    reply.header('access-control-expose-headers', EXPOSED);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return;
    await reply
      .code(204)
      .header('access-control-allow-methods', ALL_METHODS)
      .header('access-control-allow-headers', request.headers['access-control-request-headers'] ?? ALLOWED_HEADERS)
      .header('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS)
      .send();
  });
}
