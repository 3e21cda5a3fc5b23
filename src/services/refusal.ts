// Why a request was not let in, in words: what is left, and when to come back. Pure.

import { type Budget, KEY_LIMITS, type KeyLimits, LIMIT_NAMES } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import type { Demand, Standing } from '../domain/ledger.ts';
import { formatUsd } from '../domain/money.ts';
import type { ReserveOutcome } from '../storage/stores.ts';

type Refused = Extract<ReserveOutcome, { type: 'refused' }>;
type LimitRefused = Refused & { readonly reason: Exclude<Refused['reason'], 'budget'> };

const STORE_RETRY_MS = 1000;
const BUSY_RETRY_MS = 1000;
const RESET_WORDS = { none: '', day: ' a day', month: ' a month' };

/** @returns AppError `insufficient_quota` or `rate_limit_exceeded` */
export function refusalError({ reason, standing, retryAfterMs }: Refused, demand: Demand): AppError {
  if (reason === 'budget') return new AppError('insufficient_quota', describeBudget(standing, demand), { standing });
  const message = `${describeLimit(reason, standing, demand)} ${describeWait(retryAfterMs)}`;
  return rateLimited(message, standing, retryAfterMs);
}

function rateLimited(message: string, standing: Standing, retryAfterMs: number | null): AppError {
  return new AppError('rate_limit_exceeded', message, { standing, ...(retryAfterMs === null ? {} : { retryAfterMs }) });
}

function describeWait(retryAfterMs: number | null): string {
  return retryAfterMs === null ? 'Waiting does not help.' : `Try again in ${Math.ceil(retryAfterMs / 100) / 10} s.`;
}

/** Nothing is left, whatever a request may cost. */
export function spentBudgetError(standing: Standing, budget: Budget | null): AppError {
  const message = `Nothing is left of this key's budget of ${describeAmount(budget)}. ${describeReset(standing)}`;
  return new AppError('insufficient_quota', message, { standing });
}

/** A limit that refuses every request for now. */
export function limitError(
  { reason, standing, retryAfterMs }: Omit<LimitRefused, 'type'>,
  limits: KeyLimits,
): AppError {
  if (reason !== 'tokens') {
    const demand: Demand = { costPicoUsd: 0n, tokens: 0, budget: null, limits };
    return refusalError({ type: 'refused', reason, standing, retryAfterMs }, demand);
  }
  const message = `This key may use ${limits.tokensPerMinute} tokens a minute, and none are left. ${describeWait(retryAfterMs)}`;
  return rateLimited(message, standing, retryAfterMs);
}

function describeBudget(standing: Standing, demand: Demand): string {
  const left = formatUsd(standing.budget?.remainingPicoUsd ?? 0n);
  const cost = `This request may cost $${formatUsd(demand.costPicoUsd)}`;
  return `${cost}, and $${left} is left of this key's budget of ${describeAmount(demand.budget)}. ${describeReset(standing)}`;
}

/** `$5 a month` */
function describeAmount(budget: Budget | null): string {
  return `$${formatUsd(budget?.amountPicoUsd ?? 0n)}${RESET_WORDS[budget?.reset ?? 'none']}`;
}

function describeReset({ budget }: Standing): string {
  const resetsAtMs = budget?.resetsAtMs ?? null;
  if (resetsAtMs === null) return 'It does not reset by itself.';
  return `It resets at ${new Date(resetsAtMs).toISOString().replace('.000', '')}.`;
}

function describeLimit(reason: Exclude<Refused['reason'], 'budget'>, standing: Standing, demand: Demand): string {
  const refusals = LIMIT_NAMES.filter((name) => KEY_LIMITS[name].counts === reason).map((name) =>
    KEY_LIMITS[name].refusal(demand.limits[name] ?? 0, {
      tokens: demand.tokens,
      left: standing[reason]?.remaining ?? 0,
    }),
  );
  return refusals.join(' ');
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
