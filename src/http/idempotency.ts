// What makes a retry the same request: the client's `Idempotency-Key`, and a fingerprint of what was asked. What follows
// from it, the accounting decides.

import { createHash, type Hash, hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../domain/errors.ts';
import type { Idempotency } from '../services/caller.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** null: the client sent no `Idempotency-Key`. */
    idempotency: Idempotency | null;
  }
}

const SANE_KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * To be fed with the body; undefined where the client sent no key. Neither method nor pattern has a line break in it, so no
 * two requests can be told in the same bytes.
 */
export function beginFingerprint({ headers, method, routeOptions }: FastifyRequest): Hash | undefined {
  if (headers['idempotency-key'] === undefined) return undefined;
  return createHash('sha256').update(`${method} ${routeOptions.url}\n`);
}

/** @param fingerprint of the body @throws AppError `invalid_request` */
export function findIdempotency(request: FastifyRequest, fingerprint: Hash | undefined): Idempotency | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined || fingerprint === undefined) return null;
  if (typeof key !== 'string' || !SANE_KEY.test(key)) {
    throw new AppError('invalid_request', 'The Idempotency-Key must be 1 to 255 visible ASCII characters.', {
      param: 'Idempotency-Key',
    });
  }
  return { keyHash: hash('sha256', key), fingerprint: fingerprint.digest('hex') };
}
