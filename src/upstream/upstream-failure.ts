// Whose fault is it? Turns an upstream's refusals and broken connections into our errors. An upstream's own words reach
// the caller only when the mistake is the caller's; they never reach a log, because they may quote the prompt.

import { AppError, type FailureReason } from '../domain/errors.ts';
import { isRecord } from '../domain/json.ts';
import { parseObject } from './json-object.ts';
import { UpstreamFault } from './upstream-fault.ts';
import type { ChatUpstreamOptions } from './upstream-options.ts';

export interface UpstreamRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Whether a stream was asked for. */
  readonly isStreamed: boolean;
  /** The body, cut at a limit; it need not be JSON. */
  readonly text: string;
}

type Names = Pick<ChatUpstreamOptions, 'modelId' | 'upstreamModel' | 'apiKey'>;

const MAX_MESSAGE_LENGTH = 1000;
/** SDKs come back by themselves after this when the upstream gives no time of its own. */
const DEFAULT_RETRY_AFTER_MS = 1000;
const MAX_RETRY_AFTER_MS = 3_600_000;
const CONTEXT_CODES = ['context_length_exceeded', 'exceed_context_size_error'];
const FIELD_PATH = /^[\w.[\]-]{1,100}$/;
const CODE_LIKE = /^[\w.-]{1,64}$/;
const CONTROL_CHARACTERS = /\p{Cc}+/gu;

/** Only the answer as a whole has one end that a client waits for. */
export const STREAM_ADVICE = 'With "stream": true the answer comes as it is written.';

/** @param refusal a reply whose status is not 2xx. @returns UpstreamFault, unless the mistake is the caller's */
export function refusedByUpstream(refusal: UpstreamRefusal, names: Names): AppError {
  const { status, headers } = refusal;
  const said = readError(refusal.text);
  const cause = refusalCause(status, said.code);
  if (status === 408 || status === 504) {
    const advice = refusal.isStreamed ? '' : ` ${STREAM_ADVICE}`;
    return new UpstreamFault('timeout', `The upstream says that it ran out of time.${advice}`, { cause });
  }
  if (status === 429 && said.code !== 'insufficient_quota') {
    // Not `rate_limit_exceeded`: that one speaks of the caller's own limits, and this limit is ours, shared by all keys.
    const retryAfterMs = parseRetryAfter(headers) ?? DEFAULT_RETRY_AFTER_MS;
    return new UpstreamFault('rate_limited', 'The upstream takes no more requests for now.', { retryAfterMs, cause });
  }
  if (isCallersMistake(status, said.code)) return callersMistake(status, said, names);
  const retryAfterMs = status >= 500 ? parseRetryAfter(headers) : undefined;
  const reason: FailureReason = status >= 500 ? 'server_error' : 'refused';
  return new UpstreamFault(reason, `The upstream could not serve the request (status ${status}).`, {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause,
  });
}

/** An error object that came in a 200 reply or as an event of a stream. */
export function reportedError(error: unknown): UpstreamFault {
  const code = isRecord(error) ? asCode(error['code'] ?? error['type']) : undefined;
  return new UpstreamFault('error_reply', 'The upstream reported an error.', { cause: refusalCause(200, code) });
}

/** A connection that was never made, or broke. @param error what the HTTP client threw @param wasSent whether the request was */
export function brokenByUpstream(error: unknown, wasSent: boolean): UpstreamFault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Not the error itself: one about a malformed reply carries the reply.
  const cause = new Error(error instanceof Error ? `${error.name} ${code} ${error.message}` : 'unknown');
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return new UpstreamFault('connect', 'The upstream could not be reached in time.', {
      code: 'upstream_timeout',
      cause,
    });
  }
  const reason = wasSent ? 'broken_reply' : 'connect';
  return new UpstreamFault(reason, 'The connection to the upstream failed or broke off.', { cause });
}

/** 404 is not here: the path and the upstream's name of the model are our configuration. */
function isCallersMistake(status: number, code: string | undefined): boolean {
  return (status === 400 || status === 413 || status === 422) && code !== 'model_not_found';
}

function callersMistake(status: number, said: SaidError, names: Names): AppError {
  const message = hideNames(said.message ?? 'The upstream refused the request as invalid.', names);
  const options = {
    ...(said.param === undefined ? {} : { param: said.param }),
    // It may hold the caller's text.
    quotesCaller: true,
  };
  if (status === 413) return new AppError('request_too_large', message, options);
  const tooLong = CONTEXT_CODES.includes(said.code ?? '') || /maximum context length/i.test(message);
  return new AppError(tooLong ? 'context_length_exceeded' : 'invalid_request', message, options);
}

/** The caller knows the model by our name, and our key at the upstream not at all. */
function hideNames(message: string, { modelId, upstreamModel, apiKey }: Names): string {
  const withoutKey = apiKey === undefined ? message : message.replaceAll(apiKey, '…');
  return withoutKey.replaceAll(upstreamModel, modelId).replace(CONTROL_CHARACTERS, ' ').slice(0, MAX_MESSAGE_LENGTH);
}

interface SaidError {
  readonly message: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
}

/** `{error: {message, code, param}}`, `{error: "…"}`, `{message}`, `{detail: "…"}` or `{detail: [{msg}]}`. */
function readError(text: string): SaidError {
  const body = parseObject(text) ?? {};
  const error = isRecord(body['error']) ? body['error'] : body;
  const detail = body['detail'];
  const firstDetail: unknown = Array.isArray(detail) ? detail[0] : undefined;
  const candidates = [error['message'], body['error'], detail, isRecord(firstDetail) ? firstDetail['msg'] : undefined];
  const param = error['param'];
  return {
    message: candidates.find(isNonEmptyText),
    code: asCode(error['code']) ?? asCode(error['type']),
    param: typeof param === 'string' && FIELD_PATH.test(param) ? param : undefined,
  };
}

function isNonEmptyText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function asCode(value: unknown): string | undefined {
  return typeof value === 'string' && CODE_LIKE.test(value) ? value : undefined;
}

function refusalCause(status: number, code: string | undefined): Error {
  return new Error(`upstream status ${status}, code ${code ?? 'none'}`);
}

/** `retry-after-ms`, or `retry-after` as seconds or as a date. */
function parseRetryAfter(headers: UpstreamRefusal['headers']): number | undefined {
  const ms = asNumber(headers['retry-after-ms']) ?? asNumber(headers['retry-after'], 1000) ?? untilDate(headers);
  return ms === undefined ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}

function asNumber(header: string | string[] | undefined, factor = 1): number | undefined {
  return typeof header === 'string' && /^\d+(\.\d+)?$/.test(header) ? Number(header) * factor : undefined;
}

function untilDate(headers: UpstreamRefusal['headers']): number | undefined {
  const date = headers['retry-after'];
  const at = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? undefined : at - Date.now();
}
