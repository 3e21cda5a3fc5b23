// An API key as JSON and as text for people: what `umpire keys` prints.

import type { KeyStanding } from '../domain/account.ts';
import { type ApiKey, type Budget, keyStateOf } from '../domain/api-key.ts';
import { formatUsd } from '../domain/money.ts';
import { toDay, toTime } from './times.ts';

export const KEY_HEADING = [
  'ID',
  'KEY',
  'NAME',
  'MODELS',
  'BUDGET',
  'CREATED',
  'LAST USED',
  'EXPIRES',
  'STATE',
] as const;

/** In the order of the heading. */
export function toKeyCells(key: ApiKey, nowMs: number): string[] {
  return [
    key.id,
    `${key.visiblePrefix}…`,
    key.name,
    key.models?.join(',') ?? 'all',
    describeBudget(key.budget),
    toDay(key.createdAtMs),
    toDay(key.lastUsedAtMs, 'never'),
    toDay(key.expiresAtMs, 'never'),
    keyStateOf(key, nowMs),
  ];
}

/** A label and a text each. */
export function toKeyLines(key: ApiKey, standing: KeyStanding, nowMs: number): string[][] {
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = key.limits;
  return [
    ['id', key.id],
    ['key', `${key.visiblePrefix}…`],
    ['name', key.name],
    ['state', keyStateOf(key, nowMs)],
    ['scopes', key.scopes.join(', ')],
    ['models', key.models?.join(', ') ?? 'all'],
    ['budget', describeBudget(key.budget)],
    ...describeSpending(standing),
    ['requests a minute', String(requestsPerMinute ?? 'no limit')],
    ['tokens a minute', String(tokensPerMinute ?? 'no limit')],
    ['requests at a time', String(concurrentRequests ?? 'no limit')],
    ['created', `${toTime(key.createdAtMs)} by ${key.createdBy}`],
    ['last used', toTime(key.lastUsedAtMs) ?? 'never'],
    ['expires', toTime(key.expiresAtMs) ?? 'never'],
    ...(key.disabledAtMs === null ? [] : [['disabled', toTime(key.disabledAtMs)]]),
    ...(key.revokedAtMs === null ? [] : [['revoked', toTime(key.revokedAtMs)]]),
  ];
}

export function toKeyJson(key: ApiKey, nowMs: number): object {
  const { budget, limits } = key;
  return {
    id: key.id,
    name: key.name,
    visible_prefix: key.visiblePrefix,
    state: keyStateOf(key, nowMs),
    models: key.models,
    scopes: key.scopes,
    budget: budget === null ? null : { amount_usd: formatUsd(budget.amountPicoUsd), reset: budget.reset },
    limits: {
      requests_per_minute: limits.requestsPerMinute,
      tokens_per_minute: limits.tokensPerMinute,
      concurrent_requests: limits.concurrentRequests,
    },
    created_at: toTime(key.createdAtMs),
    created_by: key.createdBy,
    last_used_at: toTime(key.lastUsedAtMs),
    expires_at: toTime(key.expiresAtMs),
    disabled_at: toTime(key.disabledAtMs),
    revoked_at: toTime(key.revokedAtMs),
  };
}

/** What of the budget is gone. */
export function toBudgetJson({ budget }: ApiKey, { standing, ...amounts }: KeyStanding): object {
  if (budget === null || standing.budget === null) return {};
  return {
    budget: {
      amount_usd: formatUsd(budget.amountPicoUsd),
      reset: budget.reset,
      spent_usd: formatUsd(amounts.spentPicoUsd),
      reserved_usd: formatUsd(amounts.reservedPicoUsd),
      remaining_usd: formatUsd(standing.budget.remainingPicoUsd),
      resets_at: toTime(standing.budget.resetsAtMs),
    },
  };
}

function describeSpending({ standing: { budget }, spentPicoUsd, reservedPicoUsd }: KeyStanding): string[][] {
  if (budget === null) return [];
  return [
    ['  spent', `$${formatUsd(spentPicoUsd)}`],
    ['  reserved', `$${formatUsd(reservedPicoUsd)}`],
    ['  left', `$${formatUsd(budget.remainingPicoUsd)}`],
    ['  starts anew', toTime(budget.resetsAtMs) ?? 'never'],
  ];
}

function describeBudget(budget: Budget | null): string {
  if (budget === null) return 'none';
  return `$${formatUsd(budget.amountPicoUsd)}${budget.reset === 'none' ? '' : ` a ${budget.reset}`}`;
}
