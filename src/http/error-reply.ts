// Turns any failure into a status, headers and the one error body. The only file that knows statuses of errors.

import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AppError, type ErrorCode, errorCatalogue } from '../domain/errors.ts';
import type { ReplyStatuses } from '../services/accounting/accounting.ts';
import { standingHeaders } from './accounting-headers.ts';
import { ClientLeftError } from './client-left.ts';
import { toAppError } from './translate-error.ts';

export const STATUS_OF_CODE: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  context_length_exceeded: 400,
  model_type_mismatch: 400,
  idempotency_key_reused: 400,
  invalid_api_key: 401,
  insufficient_quota: 402,
  insufficient_scope: 403,
  model_not_allowed: 403,
  model_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  idempotency_key_in_use: 409,
  request_too_large: 413,
  expectation_failed: 417,
  rate_limit_exceeded: 429,
  internal_error: 500,
  upstream_error: 502,
  overloaded: 503,
  store_unavailable: 503,
  upstream_timeout: 504,
};

/** Written to logs and metrics for a client that left before its reply; nobody receives it. */
export const STATUS_CLIENT_LEFT = 499;

/** The same for the ledger, which knows none itself. */
export const REPLY_STATUSES: ReplyStatuses = {
  completed: 200,
  clientLeft: STATUS_CLIENT_LEFT,
  ofError: (code) => STATUS_OF_CODE[code],
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Code of the error this request ended with, for its log line. */
    errorCode: ErrorCode | null;
  }
}

/** The body of every error, also inside an event stream once headers are out. */
export function errorBody(error: AppError): string {
  const { type } = errorCatalogue[error.code];
  return JSON.stringify({
    error: { message: error.message, type, param: error.param ?? null, code: error.code },
  });
}

function errorHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    ...(error.standing === undefined ? {} : standingHeaders(error.standing)),
  };
  if (error.retryAfterMs !== undefined) {
    // Whole seconds for the standard header, rounded up: coming back early would only be refused again.
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)));
    headers['retry-after-ms'] = String(Math.max(1, Math.ceil(error.retryAfterMs)));
  }
  return headers;
}

/** What every failure leaves behind, also one that comes after the head: its code on the request, and a log line. */
export function recordError(thrown: unknown, request: FastifyRequest): AppError {
  const error = toAppError(thrown);
  request.errorCode = error.code;
  logError(error, request);
  return error;
}

/** The server's error handler. */
export function replyWithError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (thrown instanceof ClientLeftError) return reply.code(STATUS_CLIENT_LEFT).send('');
  const error = recordError(thrown, request);
  // The framework ends the connection after a bad body. A client that is still sending would see a reset instead of
  // this reply; Node reads and drops the rest, within the time that a request may take.
  if (reply.hasHeader('connection')) reply.removeHeader('connection');
  return reply.code(STATUS_OF_CODE[error.code]).headers(errorHeaders(error)).send(errorBody(error));
}

/** A whole HTTP/1.1 reply for a connection that never became a request. */
export function rawErrorReply(error: AppError, extraHeaders: Record<string, string>): string {
  const status = STATUS_OF_CODE[error.code];
  const body = errorBody(error);
  const headers = { ...errorHeaders(error), ...extraHeaders, 'content-length': Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}connection: close\r\n\r\n${body}`;
}

// A caller's mistake needs no line of its own: the request's line has its code. Nor does a refusal for want of room: it
// comes when there is most to do, many times a second.
function logError(error: AppError, request: FastifyRequest): void {
  if (error.code === 'internal_error') {
    request.log.error({ err: error.cause ?? error }, 'internal error');
  } else if (error.code === 'store_unavailable') {
    // Every request of an outage fails alike: a line each is enough, without the stacks.
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    request.log.warn({ code: error.code, reason }, 'request failed');
  } else if (error.code !== 'overloaded' && STATUS_OF_CODE[error.code] >= 500) {
    const message = error.quotesCaller ? undefined : error.message;
    const { upstream } = error;
    const where = upstream && { upstream: upstream.name, model: upstream.modelId };
    request.log.warn({ code: error.code, ...where, reason: message, cause: error.cause }, 'request failed');
  }
}
