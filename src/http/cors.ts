// Cross-origin access for browsers, off unless origins are configured. What a reply says of it is @fastify/cors's; who is
// let in, and what is no preflight, is decided here.

import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { EVERY_REPLY, INFERENCE_REPLY, TRY_AGAIN } from './openapi-headers.ts';
import { ALL_METHODS } from './unknown-route.ts';

const REFUSED: FastifyCorsOptions = { origin: false };
/** Which headers a request may have is what it asks for: official clients send some of their own. */
const GRANTED: FastifyCorsOptions = {
  methods: ALL_METHODS,
  /** Every header that is described. */
  exposedHeaders: Object.keys({ ...EVERY_REPLY, ...INFERENCE_REPLY, ...TRY_AGAIN }),
  maxAge: 600,
};

/**
 * @param current asked again for every request, for it may change while the server runs: exact origins such as
 * `https://app.example.com`, or `*` for any; none: no header is sent
 */
export async function allowCrossOrigin(app: FastifyInstance, current: () => readonly string[]): Promise<void> {
  await app.register(cors, {
    delegator: (request, done) => {
      const origins = current();
      const isForAny = origins.includes('*');
      const { origin } = request.headers;
      const isAllowed = origin !== undefined && (isForAny || origins.includes(origin));
      const granted = { ...GRANTED, origin: isForAny ? '*' : [...origins], preflight: isPreflight(request) };
      done(null, isAllowed ? granted : REFUSED);
    },
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (current().length > 0) return done();
    // The package names the origin there whatever it is told. Where no origin is let in, no reply depends on it.
    reply.removeHeader('vary');
    // Its route for OPTIONS would read a body first.
    if (request.method === 'OPTIONS') reply.callNotFound();
    else done();
  });
}

/** Any other request for OPTIONS is refused as the rest of the methods are that no route takes. */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers['access-control-request-method'] !== undefined;
}
