// From a request to the requester that services know: its key, and a signal that is aborted when the client leaves.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Requester } from '../services/requester.ts';
import { keyOf } from './authenticate.ts';
import { ClientLeftError } from './client-left.ts';
import { readDeadlineMs } from './deadline.ts';

/** Call it once the request is complete, on a route behind authentication. */
export function requesterOf(request: FastifyRequest, reply: FastifyReply): Requester {
  const controller = new AbortController();
  // "close" also follows a complete reply; only one that comes before means that the client left.
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) controller.abort(new ClientLeftError());
  });
  if (reply.raw.destroyed) controller.abort(new ClientLeftError());
  return {
    key: keyOf(request),
    signal: controller.signal,
    requestId: request.id,
    idempotency: request.idempotency ?? undefined,
  };
}

/** Of a route whose model is local: one that heeds the caller's deadline. @throws AppError `invalid_request` */
export function localRequesterOf(request: FastifyRequest, reply: FastifyReply): Requester {
  const deadlineMs = readDeadlineMs(request);
  const requester = requesterOf(request, reply);
  return deadlineMs === undefined ? requester : { ...requester, deadlineMs };
}
