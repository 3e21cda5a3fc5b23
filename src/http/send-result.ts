// The reply of a local job: JSON already written, with the headers that say which weights answered and how long it took.

import type { FastifyReply } from 'fastify';
import type { ModelCard } from '../domain/model-card.ts';
import type { JobTimings } from '../domain/usage.ts';

export interface JobResult {
  readonly model: ModelCard;
  readonly timings: JobTimings;
}

/** @param json the body as text; names in it may be any text, so it is not left to a serialiser of objects */
export function sendResult(reply: FastifyReply, { model, timings }: JobResult, json: string): FastifyReply {
  if (model.digest !== undefined) reply.header('x-umpire-model-digest', model.digest);
  return reply.header('server-timing', serverTiming(timings)).type('application/json; charset=utf-8').send(json);
}

/** `queue;dur=0.012, tokenize;dur=0.408, infer;dur=12.611`, in milliseconds */
function serverTiming({ queueMs, tokenizeMs, inferMs }: JobTimings): string {
  const parts = { queue: queueMs, tokenize: tokenizeMs, infer: inferMs };
  return Object.entries(parts)
    .map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`)
    .join(', ');
}
