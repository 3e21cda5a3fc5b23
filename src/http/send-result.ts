// The reply of a local job: JSON already written, with the headers that say which weights answered, what the answer was
// taken from, how long it took and what it cost.

import type { FastifyReply } from 'fastify';
import type { JobTimings } from '../domain/usage.ts';
import type { LocalReply, LocalResult, ReplyWriter } from '../services/inference/inference.ts';
import { costHeaders, receiptHeaders, sendReplay } from './accounting-headers.ts';
import type { TokenMetrics } from './observe.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** @param write gives JSON text; names in it may be any text, so it is not left to a serialiser of objects */
export function resultWriter<Result extends LocalResult>(
  write: (result: Result) => string | Promise<string | Buffer>,
): ReplyWriter<Result> {
  return {
    write,
    keep: (result, body, costPicoUsd) => ({
      contentType: JSON_TYPE,
      body,
      headers: { ...answererHeaders(result), ...costHeaders(costPicoUsd) },
    }),
  };
}

export interface ResultTelling {
  readonly metrics: TokenMetrics;
  /** Whether the reply says if its answer was shared: where none ever is, there is nothing to say. */
  readonly tellsSharing: boolean;
}

export function sendResult(
  reply: FastifyReply,
  answered: LocalReply<LocalResult>,
  { metrics, tellsSharing }: ResultTelling,
): FastifyReply {
  if (answered.type === 'replayed') return sendReplay(reply, answered.reply);
  const { result, body, receipt } = answered;
  metrics.countTokens(result.model.id, result.usage);
  const { costPicoUsd } = receipt;
  reply.request.billedWork = { modelId: result.model.id, usage: result.usage, costPicoUsd };
  return reply
    .headers({
      ...answererHeaders(result),
      ...sourceHeaders(result.source, tellsSharing),
      ...receiptHeaders(receipt),
      'server-timing': serverTiming(result.timings),
    })
    .type(JSON_TYPE)
    .send(body);
}

/** By which an answer may differ that shared runs with others. */
const TOLERANCE = '0.001';

function answererHeaders({ model, answeredBy, isBatched }: LocalResult): Record<string, string> {
  return {
    ...(model.digest === undefined ? {} : { 'x-umpire-model-digest': model.digest }),
    ...(answeredBy === undefined ? {} : { 'x-umpire-answered-by': listOrigins(answeredBy) }),
    ...(isBatched === true ? { 'x-umpire-tolerance': TOLERANCE } : {}),
  };
}

/** `head, base*3`: proxies take headers of a few kilobytes, and a request has up to 1,024 questions. */
function listOrigins(origins: NonNullable<LocalResult['answeredBy']>): string {
  const runs: { readonly origin: string; length: number }[] = [];
  for (const origin of origins) {
    const last = runs.at(-1);
    if (last?.origin === origin) last.length += 1;
    else runs.push({ origin, length: 1 });
  }
  return runs.map(({ origin, length }) => (length === 1 ? origin : `${origin}*${length}`)).join(', ');
}

const CACHE_WORDS = { run: 'miss', merged: 'merged', kept: 'hit' } as const;

function sourceHeaders({ answer, keptTokens }: LocalResult['source'], tellsSharing: boolean): Record<string, string> {
  return {
    ...(tellsSharing ? { 'x-umpire-cache': CACHE_WORDS[answer] } : {}),
    ...(keptTokens > 0 ? { 'x-umpire-kept-tokens': String(keptTokens) } : {}),
  };
}

/** `queue;dur=0.012, tokenize;dur=0.408, infer;dur=12.611`, in milliseconds */
function serverTiming({ queueMs, tokenizeMs, inferMs }: JobTimings): string {
  const parts = { queue: queueMs, tokenize: tokenizeMs, infer: inferMs };
  return Object.entries(parts)
    .map(([name, ms]) => `${name};dur=${ms.toFixed(3)}`)
    .join(', ');
}
