// An API key as JSON and as text for people: what `umpire keys` prints.

import type { ApiKey, Budget } from '../domain/api-key.ts';
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
    stateOf(key, nowMs),
  ];
}

/** One line each. */
export function toKeyLines(key: ApiKey, nowMs: number): string[][] {
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = key.limits;
  return [
    ['id', key.id],
    ['key', `${key.visiblePrefix}…`],
    ['name', key.name],
    ['state', stateOf(key, nowMs)],
    ['scopes', key.scopes.join(', ')],
    ['models', key.models?.join(', ') ?? 'all'],
    ['budget', describeBudget(key.budget)],
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

export function toKeyJson(key: ApiKey): object {
  const { budget, limits } = key;
  return {
    id: key.id,
    name: key.name,
    visible_prefix: key.visiblePrefix,
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

function describeBudget(budget: Budget | null): string {
  if (budget === null) return 'none';
  return `$${formatUsd(budget.amountPicoUsd)}${budget.reset === 'none' ? '' : ` a ${budget.reset}`}`;
}

function stateOf(key: ApiKey, nowMs: number): string {
  if (key.revokedAtMs !== null) return 'revoked';
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return 'expired';
  return key.disabledAtMs === null ? 'active' : 'disabled';
}
