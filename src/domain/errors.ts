// The one catalogue of errors a caller can see: code, status, kind and the sentence docs print. Codes are never renamed.

import type { Standing } from './ledger.ts';

/** `type` of the wire body, in the words of the chat format. */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'insufficient_quota'
  | 'upstream_error'
  | 'server_error';

interface ErrorEntry {
  /** Of HTTP. */
  readonly status: number;
  readonly type: ErrorType;
  /** When it happens, for `docs/errors.md` and OpenAPI. */
  readonly when: string;
}

export const errorCatalogue = {
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    when: 'The request is malformed; `param` names the field.',
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request_error',
    when: 'More tokens than the model takes. Nothing is ever cut silently.',
  },
  model_type_mismatch: { status: 400, type: 'invalid_request_error', when: 'The model works on another endpoint.' },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    when: 'The key is missing, malformed, unknown, disabled, expired or revoked.',
  },
  insufficient_quota: { status: 402, type: 'insufficient_quota', when: "The key's budget is spent." },
  insufficient_scope: {
    status: 403,
    type: 'permission_error',
    when: 'The key lacks the scope of the route: `inference` or `admin`.',
  },
  model_not_allowed: { status: 403, type: 'permission_error', when: 'The key may not use this model.' },
  model_not_found: { status: 404, type: 'not_found_error', when: 'No such model.' },
  not_found: { status: 404, type: 'not_found_error', when: 'No such route, or nothing that has this id.' },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    when: 'The route does not take this method; `Allow` names those it takes.',
  },
  conflict: {
    status: 409,
    type: 'invalid_request_error',
    when: 'What should be made exists already, cannot be changed any more, or is being worked on.',
  },
  reload_failed: {
    status: 409,
    type: 'invalid_request_error',
    when: 'The configuration that the server was told to read again has faults, which the message names. Nothing was changed.',
  },
  idempotency_key_reused: {
    status: 400,
    type: 'invalid_request_error',
    when: 'The `Idempotency-Key` was used before with another request.',
  },
  idempotency_key_in_use: {
    status: 409,
    type: 'invalid_request_error',
    when: 'The first request with this `Idempotency-Key` is still running, or its reply was too large to be kept.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    when: 'The client took too long to send its request.',
  },
  request_too_large: { status: 413, type: 'invalid_request_error', when: 'The body is over the limit.' },
  expectation_failed: {
    status: 417,
    type: 'invalid_request_error',
    when: 'The header `Expect` asks for more than `100-continue`.',
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    when: 'Too many requests or tokens for this key, or too many unknown keys from this address.',
  },
  upstream_error: { status: 502, type: 'upstream_error', when: 'The upstream failed or broke off.' },
  upstream_timeout: {
    status: 504,
    type: 'upstream_error',
    when: 'The upstream took too long. A long answer that is streamed (`"stream": true`) comes as it is written.',
  },
  overloaded: {
    status: 503,
    type: 'server_error',
    when: 'The queue is full, the deadline cannot be met, or the server is loading or stopping. `Retry-After` says when to come back.',
  },
  model_unavailable: {
    status: 503,
    type: 'server_error',
    when: 'The model is loaded when it is first asked for, and that failed, or there is no memory for it: `Retry-After` says when it is tried again. Or it is a learned model whose base has changed, or whose folder is broken. Or the device it runs on has failed. Other models answer; the log of the server says why.',
  },
  store_unavailable: {
    status: 503,
    type: 'server_error',
    when: 'Keys, budgets and the ledger cannot be reached. Nothing is served unbilled; it recovers by itself.',
  },
  internal_error: { status: 500, type: 'server_error', when: 'A fault of the server; the log has the request id.' },
} as const satisfies Record<string, ErrorEntry>;

/** In the ledger, logs and metrics for a client that left before its reply; nobody receives it. */
export const STATUS_CLIENT_LEFT = 499;

export type ErrorCode = keyof typeof errorCatalogue;

export interface AppErrorOptions {
  /** Field of the request, by position, never by a caller's text: `questions[2].type`. */
  readonly param?: string;
  /** When the same request may succeed, in milliseconds from now. */
  readonly retryAfterMs?: number;
  /** Where the key stands, for the headers of a refusal. */
  readonly standing?: Standing;
  /** Message holds text of the caller (a question's name): it is sent, but never logged. */
  readonly quotesCaller?: boolean;
  readonly cause?: unknown;
}

/**
 * Why an upstream gave no answer. `connect`: no connection to it. `timeout`: nothing in time, or it said so. `rate_limited`:
 * its 429. `busy`: it has as many requests of ours as it may, and was not asked. `refused`: it would not have us, by any
 * other status below 500 that is no mistake of the caller. `server_error`: a status from 500 on. `error_reply`: an error in
 * a reply that began well. `broken_reply`: cut, or not of the format.
 */
export type FailureReason =
  | 'connect'
  | 'timeout'
  | 'rate_limited'
  | 'busy'
  | 'refused'
  | 'server_error'
  | 'error_reply'
  | 'broken_reply';

export interface FailedUpstream {
  /** The name in the configuration. */
  readonly name: string;
  readonly modelId: string;
  readonly reason: FailureReason;
}

/** Every expected failure. Anything else that is thrown is an `internal_error`. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly standing: Standing | undefined;
  readonly quotesCaller: boolean;
  /** Where it failed, told by who asked there: for the log, not for the caller. */
  upstream: FailedUpstream | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.param = options.param;
    this.retryAfterMs = options.retryAfterMs;
    this.standing = options.standing;
    this.quotesCaller = options.quotesCaller ?? false;
  }
}

/** What a failure says of itself; anything can be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An `AppError` as it crosses threads: structured clone keeps neither class nor extra fields. */
export interface ErrorRecord {
  readonly code: ErrorCode;
  readonly message: string;
  readonly param?: string;
  readonly retryAfterMs?: number;
}

/** @returns the record of an `AppError`; of anything else an `internal_error` that keeps only the message. */
export function toErrorRecord(error: unknown): ErrorRecord {
  if (!(error instanceof AppError)) {
    return { code: 'internal_error', message: messageOf(error) };
  }
  return {
    code: error.code,
    message: error.message,
    ...(error.param === undefined ? {} : { param: error.param }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  };
}

export function fromErrorRecord(record: ErrorRecord): AppError {
  const { code, message, ...options } = record;
  return new AppError(code, message, options);
}

/** The store cannot be reached or cannot write (full disk, lost connection): the request it was for is refused. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}
