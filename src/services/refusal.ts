// Why a request was not let in, in words: what is left, and when to come back. Pure.

import { AppError } from '../domain/errors.ts';
import type { Demand, Standing } from '../domain/ledger.ts';
import { formatUsd } from '../domain/money.ts';
import type { ReserveOutcome } from '../storage/stores.ts';

type Refused = Extract<ReserveOutcome, { type: 'refused' }>;

const STORE_RETRY_MS = 1000;
const BUSY_RETRY_MS = 1000;
const RESET_WORDS = { none: '', day: ' a day', month: ' a month' };

/** @returns AppError `insufficient_quota` or `rate_limit_exceeded` */
export function refusalError({ reason, standing, retryAfterMs }: Refused, demand: Demand): AppError {
  if (reason === 'budget') return new AppError('insufficient_quota', describeBudget(standing, demand), { standing });
  const when =
    retryAfterMs === null ? 'Waiting does not help.' : `Try again in ${Math.ceil(retryAfterMs / 100) / 10} s.`;
  const message = `${describeLimit(reason, standing, demand)} ${when}`;
  return new AppError('rate_limit_exceeded', message, { standing, ...(retryAfterMs === null ? {} : { retryAfterMs }) });
}

function describeBudget({ budget }: Standing, demand: Demand): string {
  const left = formatUsd(budget?.remainingPicoUsd ?? 0n);
  const amount = `$${formatUsd(demand.budget?.amountPicoUsd ?? 0n)}${RESET_WORDS[demand.budget?.reset ?? 'none']}`;
  const resetsAtMs = budget?.resetsAtMs ?? null;
  const reset =
    resetsAtMs === null
      ? 'It does not reset by itself.'
      : `It resets at ${new Date(resetsAtMs).toISOString().replace('.000', '')}.`;
  const cost = `This request may cost $${formatUsd(demand.costPicoUsd)}`;
  return `${cost}, and $${left} is left of this key's budget of ${amount}. ${reset}`;
}

function describeLimit(reason: Exclude<Refused['reason'], 'budget'>, standing: Standing, demand: Demand): string {
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = demand.limits;
  switch (reason) {
    case 'requests':
      return `This key may make ${requestsPerMinute} requests a minute.`;
    case 'tokens': {
      const left = standing.tokens?.remaining ?? 0;
      return `This request may use ${demand.tokens} tokens; this key may use ${tokensPerMinute} a minute, and ${left} are left.`;
    }
    case 'concurrent':
      return `This key may have ${concurrentRequests} requests running at a time.`;
  }
}

export function storeUnavailable(cause: unknown): AppError {
  return new AppError('store_unavailable', 'Keys, budgets and the ledger cannot be reached at the moment.', {
    retryAfterMs: STORE_RETRY_MS,
    cause,
  });
}

export function idempotencyKeyReused(): AppError {
  return new AppError('idempotency_key_reused', 'This Idempotency-Key was used before with another request.', {
    param: 'Idempotency-Key',
  });
}

export function idempotencyKeyBusy(): AppError {
  return new AppError('idempotency_key_in_use', 'The first request with this Idempotency-Key is still running.', {
    param: 'Idempotency-Key',
    retryAfterMs: BUSY_RETRY_MS,
  });
}

export function replyNotKept(): AppError {
  const message = 'The request with this Idempotency-Key was answered, but its reply was too large to be kept.';
  return new AppError('idempotency_key_in_use', message, { param: 'Idempotency-Key' });
}
