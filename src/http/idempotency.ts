// What makes a retry the same request: the client's `Idempotency-Key`, and a fingerprint of what was asked. Noted while a
// body is parsed, because only then its bytes are at hand; what follows from it, the accounting decides.

import { createHash, hash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../domain/errors.ts';
import type { Idempotency } from '../services/requester.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** null: the client sent no `Idempotency-Key`. */
    idempotency: Idempotency | null;
  }
}

const SANE_KEY = /^[\x21-\x7e]{1,255}$/;

/** Bodies of the routes that run a model. @param parse throws AppError `invalid_request` */
export function parseInferenceBodies(
  api: FastifyInstance,
  parse: (body: Buffer, request: FastifyRequest) => unknown,
): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const value = parse(body, request);
    request.idempotency = findIdempotency(request, body);
    return value;
  });
}

/** @throws AppError `invalid_request` */
function findIdempotency(request: FastifyRequest, body: Buffer): Idempotency | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !SANE_KEY.test(key)) {
    throw new AppError('invalid_request', 'The Idempotency-Key must be 1 to 255 visible ASCII characters.', {
      param: 'Idempotency-Key',
    });
  }
  // Neither method nor pattern has a line break in it, so no two requests can be told in the same bytes.
  const fingerprint = createHash('sha256').update(`${request.method} ${request.routeOptions.url}\n`).update(body);
  return { keyHash: hash('sha256', key), fingerprint: fingerprint.digest('hex') };
}
