// Reservations, accounts and what the ledger keeps of requests, as rows of their tables, and back.

import type { Insertable, Selectable } from 'kysely';
import type { Account, Terms } from '../domain/account.ts';
import type { Budget, BudgetReset } from '../domain/api-key.ts';
import type { AcceptedRequest, LedgerRow, RequestEnd, RequestOutcome } from '../domain/ledger.ts';
import type { AcceptedRequestColumns, AccountTable, LedgerTable, ReservationTable } from './schema.ts';
import type { Reservation } from './stores.ts';

/** What is kept of a reservation until it ends. */
export interface OpenReservation {
  readonly accepted: AcceptedRequest;
  readonly instanceId: string;
  readonly costPicoUsd: bigint;
  readonly tokens: number;
  readonly terms: Terms;
  readonly claimHash: string | null;
}

export function openReservationOf(reservation: Reservation): OpenReservation {
  const { instanceId, demand, idempotency, ...accepted } = reservation;
  const { costPicoUsd, tokens, ...terms } = demand;
  return { accepted, instanceId, costPicoUsd, tokens, terms, claimHash: idempotency?.keyHash ?? null };
}

export function toReservationRow(reservation: OpenReservation): Insertable<ReservationTable> {
  return {
    ...toAcceptedColumns(reservation.accepted),
    instance_id: reservation.instanceId,
    cost_pico_usd: reservation.costPicoUsd,
    tokens: reservation.tokens,
    terms: writeTerms(reservation.terms),
    claim_hash: reservation.claimHash,
  };
}

export function toOpenReservation(row: Selectable<ReservationTable>): OpenReservation {
  return {
    accepted: toAccepted(row),
    instanceId: row.instance_id,
    costPicoUsd: BigInt(row.cost_pico_usd),
    tokens: Number(row.tokens),
    terms: readTerms(row.terms),
    claimHash: row.claim_hash,
  };
}

export function toLedgerColumns(accepted: AcceptedRequest, outcome: RequestOutcome): Insertable<LedgerTable> {
  return { ...toAcceptedColumns(accepted), ...toOutcomeColumns(outcome) };
}

export function toOutcomeColumns(outcome: RequestOutcome) {
  const { usage } = outcome;
  return {
    end_type: outcome.end,
    status: outcome.status,
    error_code: outcome.errorCode,
    input_tokens: usage.inputTokens,
    cached_tokens: usage.cachedTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    is_estimated: outcome.isEstimated ? 1 : 0,
    cost_pico_usd: outcome.costPicoUsd,
    // Clocks that measure give fractions.
    duration_ms: Math.round(outcome.durationMs),
    wait_ms: outcome.waitMs === null ? null : Math.round(outcome.waitMs),
    upstream: outcome.upstream,
    upstream_failures: outcome.upstreamFailures,
  };
}

export function toLedgerRow(row: Selectable<LedgerTable>): LedgerRow {
  return {
    ...toAccepted(row),
    end: row.end_type as RequestEnd,
    status: row.status,
    errorCode: row.error_code,
    usage: {
      inputTokens: Number(row.input_tokens),
      cachedTokens: Number(row.cached_tokens),
      outputTokens: Number(row.output_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
    },
    isEstimated: row.is_estimated === 1,
    costPicoUsd: BigInt(row.cost_pico_usd),
    durationMs: Number(row.duration_ms),
    waitMs: row.wait_ms === null ? null : Number(row.wait_ms),
    upstream: row.upstream,
    upstreamFailures: row.upstream_failures,
  };
}

export function toAccountRow(account: Account): Insertable<AccountTable> {
  const { window } = account;
  return {
    key_id: account.keyId,
    period_start_ms: account.periodStartMs,
    spent_pico_usd: String(account.spentPicoUsd),
    reserved_pico_usd: String(account.reservedPicoUsd),
    in_flight: account.inFlight,
    last_used_at_ms: account.lastUsedAtMs,
    minute_start_ms: window.startMs,
    requests_now: window.requestsNow,
    requests_before: window.requestsBefore,
    tokens_now: window.tokensNow,
    tokens_before: window.tokensBefore,
  };
}

export function toAccount(row: Selectable<AccountTable>): Account {
  return {
    keyId: row.key_id,
    periodStartMs: Number(row.period_start_ms),
    spentPicoUsd: BigInt(row.spent_pico_usd),
    reservedPicoUsd: BigInt(row.reserved_pico_usd),
    inFlight: Number(row.in_flight),
    lastUsedAtMs: row.last_used_at_ms === null ? null : Number(row.last_used_at_ms),
    window: {
      startMs: Number(row.minute_start_ms),
      requestsNow: Number(row.requests_now),
      requestsBefore: Number(row.requests_before),
      tokensNow: Number(row.tokens_now),
      tokensBefore: Number(row.tokens_before),
    },
  };
}

function toAcceptedColumns(accepted: AcceptedRequest) {
  const { price } = accepted;
  return {
    id: accepted.id,
    request_id: accepted.requestId,
    key_id: accepted.keyId,
    model_id: accepted.modelId,
    endpoint: accepted.endpoint,
    is_streamed: accepted.isStreamed ? 1 : 0,
    accepted_at_ms: accepted.acceptedAtMs,
    input_micro_usd: price.inputMicroUsd,
    cached_input_micro_usd: price.cachedInputMicroUsd,
    output_micro_usd: price.outputMicroUsd,
  };
}

function toAccepted(row: Selectable<AcceptedRequestColumns>): AcceptedRequest {
  return {
    id: row.id,
    requestId: row.request_id,
    keyId: row.key_id,
    modelId: row.model_id,
    endpoint: row.endpoint,
    isStreamed: row.is_streamed !== 0,
    acceptedAtMs: Number(row.accepted_at_ms),
    price: {
      inputMicroUsd: Number(row.input_micro_usd),
      cachedInputMicroUsd: Number(row.cached_input_micro_usd),
      outputMicroUsd: Number(row.output_micro_usd),
    },
  };
}

interface WrittenTerms {
  readonly limits: Terms['limits'];
  readonly budget: { readonly amountPicoUsd: string; readonly reset: BudgetReset } | null;
}

function writeTerms({ budget, limits }: Terms): string {
  const written: WrittenTerms = {
    limits,
    budget: budget === null ? null : { amountPicoUsd: String(budget.amountPicoUsd), reset: budget.reset },
  };
  return JSON.stringify(written);
}

function readTerms(text: string): Terms {
  const { limits, budget } = JSON.parse(text) as WrittenTerms;
  const read: Budget | null = budget && { amountPicoUsd: BigInt(budget.amountPicoUsd), reset: budget.reset };
  return { limits, budget: read };
}
