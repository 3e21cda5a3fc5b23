// Turns any failure into a status, headers and the one error body.

import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AppError, type ErrorCode, errorCatalogue, STATUS_CLIENT_LEFT } from '../domain/errors.ts';
import { standingHeaders } from './accounting-headers.ts';
import { ClientLeftError } from './client-left.ts';
import { toAppError } from './translate-error.ts';

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
  return reply.code(errorCatalogue[error.code].status).headers(errorHeaders(error)).send(errorBody(error));
}

/** A whole HTTP/1.1 reply for a connection that never became a request. */
export function rawErrorReply(error: AppError, extraHeaders: Record<string, string>): string {
  const status = errorCatalogue[error.code].status;
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
  } else if (error.code !== 'overloaded' && errorCatalogue[error.code].status >= 500) {
    const message = error.quotesCaller ? undefined : error.message;
    const { upstream } = error;
    const where = upstream && { upstream: upstream.name, model: upstream.modelId, failure: upstream.reason };
    request.log.warn({ code: error.code, ...where, reason: message, cause: error.cause }, 'request failed');
  }
}
