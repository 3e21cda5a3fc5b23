// What makes a retry the same request: the client's `Idempotency-Key`, and a fingerprint of what was asked. Noted while a
// body is parsed, because only then its bytes are at hand; what follows from it, the accounting decides.

import { createHash, type Hash, hash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../domain/errors.ts';
import type { JsonRules } from '../domain/json.ts';
import type { ModelType } from '../domain/model-card.ts';
import type { Idempotency } from '../services/caller.ts';
import type { KeyRoom } from '../services/key-room.ts';
import { keyOf } from './authenticate.ts';
import type { BodyIntake, ReceivedBody } from './body-intake.ts';
import type { BodyLimits } from './body-limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** null: the client sent no `Idempotency-Key`. */
    idempotency: Idempotency | null;
  }
}

const SANE_KEY = /^[\x21-\x7e]{1,255}$/;

export interface InferenceBodies {
  readonly intake: BodyIntake;
  readonly limits: BodyLimits;
  /** `maps`: names are data, and keep their order. */
  readonly objects: JsonRules['objects'];
  /** Whether the key of a large body has room is looked up before it is read. Default: it is not. */
  readonly keyRoom?: KeyRoom | undefined;
  readonly type: ModelType;
  /** Whether the members of the body are listed. Default: no. */
  readonly listsMembers?: boolean;
  /** Makes of the parsed body what the route's schema checks. Default: nothing. */
  readonly adapt?: (received: ReceivedBody, request: FastifyRequest) => unknown;
}

/** Bodies of the routes that run a model. */
export function parseInferenceBodies(
  api: FastifyInstance,
  { intake, limits, adapt, keyRoom, type, ...wanted }: InferenceBodies,
): void {
  const rules: JsonRules = { ...wanted, duplicates: wanted.objects === 'maps' ? 'refuse' : 'last' };
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('application/json', async (request: FastifyRequest, body: NodeJS.ReadableStream) => {
    const hash = hashFor(request);
    // The reply of an earlier request needs no room.
    const findRefusal = hash === undefined ? () => keyRoom?.findRefusal(keyOf(request), type) : undefined;
    const received = await intake.receive(request, body, { limits, rules, hash, findRefusal });
    if (received === undefined) {
      throw new AppError('invalid_request', 'The body is empty; it must be a JSON object.');
    }
    request.idempotency = findIdempotency(request, hash);
    return adapt === undefined ? received.value : adapt(received, request);
  });
}

/** Neither method nor pattern has a line break in it, so no two requests can be told in the same bytes. */
function hashFor({ headers, method, routeOptions }: FastifyRequest): Hash | undefined {
  if (headers['idempotency-key'] === undefined) return undefined;
  return createHash('sha256').update(`${method} ${routeOptions.url}\n`);
}

/** @param fingerprint of the body @throws AppError `invalid_request` */
function findIdempotency(request: FastifyRequest, fingerprint: Hash | undefined): Idempotency | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined || fingerprint === undefined) return null;
  if (typeof key !== 'string' || !SANE_KEY.test(key)) {
    throw new AppError('invalid_request', 'The Idempotency-Key must be 1 to 255 visible ASCII characters.', {
      param: 'Idempotency-Key',
    });
  }
  return { keyHash: hash('sha256', key), fingerprint: fingerprint.digest('hex') };
}
