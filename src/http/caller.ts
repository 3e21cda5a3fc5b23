// From a request to the caller that services know: its key, and a signal that is aborted when the client leaves.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthenticatedCaller } from '../services/caller.ts';
import { keyOf } from './authenticate.ts';
import { ClientLeftError } from './client-left.ts';
import { readDeadlineMs } from './deadline.ts';

/** Call it once the request is complete, on a route behind authentication. @throws AppError `invalid_request` */
export function callerOf(request: FastifyRequest, reply: FastifyReply): AuthenticatedCaller {
  const deadlineMs = readDeadlineMs(request);
  const controller = new AbortController();
  // "close" also follows a complete reply; only one that comes before means that the client left.
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) controller.abort(new ClientLeftError());
  });
  if (reply.raw.destroyed) controller.abort(new ClientLeftError());
  const key = keyOf(request);
  return {
    key,
    keyId: key.id,
    signal: controller.signal,
    requestId: request.id,
    idempotency: request.idempotency ?? undefined,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    span: request.span ?? undefined,
  };
}
