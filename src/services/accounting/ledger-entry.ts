// What the ledger is told of a request: what is reserved when it begins, and how it ended, with what it used, what it cost
// and which status its client got. Pure but for the random part of an id.

import { randomUUID } from 'node:crypto';
import { AppError, type ErrorCode, errorCatalogue, STATUS_CLIENT_LEFT } from '../../domain/errors.ts';
import type { RequestEnd, RequestOutcome } from '../../domain/ledger.ts';
import { ENDPOINT_OF_TYPE, type ModelCard } from '../../domain/model-card.ts';
import { costPicoUsd, type Price } from '../../domain/money.ts';
import type { TokenUsage } from '../../domain/usage.ts';
import type { Reservation } from '../../storage/stores.ts';
import type { FinishedWork, NewBooking, UsedWork } from './accounting.ts';

export interface ReservationTerms {
  readonly instanceId: string;
  /** For how long an idempotency key is held. */
  readonly windowMs: number;
  readonly nowMs: number;
}

export function reservationOf(wanted: NewBooking, { instanceId, windowMs, nowMs }: ReservationTerms): Reservation {
  const { caller, model, isStreamed, expected } = wanted;
  const { key, requestId, idempotency } = caller;
  return {
    id: timeOrderedId(nowMs),
    requestId,
    keyId: key.id,
    modelId: model.id,
    endpoint: wanted.endpoint ?? ENDPOINT_OF_TYPE[model.type],
    isStreamed,
    acceptedAtMs: nowMs,
    price: model.price,
    instanceId,
    demand: {
      costPicoUsd: costPicoUsd(expected, model.price),
      tokens: expected.inputTokens + expected.outputTokens,
      budget: key.budget,
      limits: key.limits,
    },
    idempotency: idempotency === undefined ? null : { ...idempotency, expiresAtMs: nowMs + windowMs },
  };
}

export interface EndedRequest {
  readonly price: Price;
  readonly durationMs: number;
  readonly signal: AbortSignal;
}

const STATUS_COMPLETED = 200;
const NOTHING_USED: TokenUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
const NOTHING_DONE: UsedWork = { usage: NOTHING_USED, isEstimated: false, waitMs: null };

export function outcomeOfWork(work: FinishedWork, ended: EndedRequest): RequestOutcome {
  const end = work.end ?? (ended.signal.aborted ? 'client_left' : 'completed');
  const status = end === 'client_left' ? STATUS_CLIENT_LEFT : STATUS_COMPLETED;
  return { end, status, errorCode: null, ...billed(work, ended) };
}

export function outcomeOfError(error: unknown, ended: EndedRequest, partial = NOTHING_DONE): RequestOutcome {
  if (ended.signal.aborted && error === ended.signal.reason) {
    return { end: 'client_left', status: STATUS_CLIENT_LEFT, errorCode: null, ...billed(partial, ended) };
  }
  const errorCode = error instanceof AppError ? error.code : 'internal_error';
  const { status } = errorCatalogue[errorCode];
  const outcome = { end: endOfCode(errorCode), status, errorCode, ...billed(partial, ended) };
  const failed = error instanceof AppError ? error.upstream : undefined;
  return failed === undefined ? outcome : { ...outcome, upstream: failed.name };
}

/** Of work that was done, but whose reply could not be given because it could not be billed. */
export function outcomeUnbilled(outcome: RequestOutcome): RequestOutcome {
  const errorCode = 'store_unavailable';
  const { status } = errorCatalogue[errorCode];
  return { ...outcome, end: 'failed', status, errorCode, usage: NOTHING_USED, costPicoUsd: 0n };
}

/**
 * Whether a request that failed so was accepted at all. A local model finds out late that it has no room, or that a text
 * is too long for it: such a request is refused, not failed. What an upstream says of a request comes after acceptance.
 */
export function wasAccepted(error: unknown, { type }: ModelCard): boolean {
  if (!(error instanceof AppError)) return true;
  if (error.code === 'overloaded' || error.code === 'model_unavailable') return false;
  const isMistake = error.code === 'context_length_exceeded' || error.code === 'invalid_request';
  return type === 'llm' || !isMistake;
}

function endOfCode(code: ErrorCode): RequestEnd {
  return code === 'upstream_error' || code === 'upstream_timeout' ? 'upstream_failed' : 'failed';
}

function billed(work: UsedWork, { price, durationMs }: EndedRequest) {
  const { usage, isEstimated, waitMs, upstream = null, failedUpstreams = [] } = work;
  const failures = failedUpstreams.map(({ name, reason }) => `${name}:${reason}`);
  return {
    usage,
    isEstimated,
    costPicoUsd: costPicoUsd(usage, price),
    durationMs: Math.max(0, Math.round(durationMs)),
    waitMs: waitMs === null ? null : Math.max(0, Math.round(waitMs)),
    upstream,
    upstreamFailures: failures.length === 0 ? null : failures.join(' '),
  };
}

/** A UUID of version 7: rows that come together lie together, so that indexes grow at their end. */
function timeOrderedId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
