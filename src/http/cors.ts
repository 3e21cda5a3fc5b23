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

/** @param origins exact origins such as `https://app.example.com`, or `*` for any; none: no header is ever sent */
export async function allowCrossOrigin(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  if (origins.length === 0) return;
  const isForAny = origins.includes('*');
  await app.register(cors, {
    delegator: (request, done) => {
      const { origin } = request.headers;
      const isAllowed = origin !== undefined && (isForAny || origins.includes(origin));
      const granted = { ...GRANTED, origin: isForAny ? '*' : [...origins], preflight: isPreflight(request) };
      done(null, isAllowed ? granted : REFUSED);
    },
  });
}

/** Any other request for OPTIONS is refused as the rest of the methods are that no route takes. */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers['access-control-request-method'] !== undefined;
}
