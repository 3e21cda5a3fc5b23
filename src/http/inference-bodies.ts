// How the bodies of the routes that run a model are read: within their limits, with the room that their key has, and with
// what makes a retry the same request, noted while their bytes are at hand.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../domain/errors.ts';
import type { JsonRules } from '../domain/json.ts';
import type { ModelType } from '../domain/model-card.ts';
import type { KeyRoom } from '../services/key-room.ts';
import { keyOf } from './authenticate.ts';
import type { BodyIntake, ReceivedBody } from './body-intake.ts';
import type { BodyLimits } from './body-limits.ts';
import { beginFingerprint, findIdempotency } from './idempotency.ts';

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
    const hash = beginFingerprint(request);
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
