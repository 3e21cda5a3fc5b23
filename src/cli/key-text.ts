// An API key as text for people: what `umpire keys` prints; domain/key-json.ts is the other half.

import type { KeyStanding } from '../domain/account.ts';
import { type ApiKey, type Budget, KEY_LIMITS, keyStateOf, LIMIT_NAMES } from '../domain/api-key.ts';
import { toInstant } from '../domain/instant.ts';
import { formatUsd } from '../domain/money.ts';
import { toDay } from './times.ts';

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
  return [
    ['id', key.id],
    ['key', `${key.visiblePrefix}…`],
    ['name', key.name],
    ['state', keyStateOf(key, nowMs)],
    ['scopes', key.scopes.join(', ')],
    ['models', key.models?.join(', ') ?? 'all'],
    ['budget', describeBudget(key.budget)],
    ...describeSpending(standing),
    ...LIMIT_NAMES.map((name) => [KEY_LIMITS[name].label, String(key.limits[name] ?? 'no limit')]),
    ['created', `${toInstant(key.createdAtMs)} by ${key.createdBy}`],
    ['last used', toInstant(key.lastUsedAtMs) ?? 'never'],
    ['expires', toInstant(key.expiresAtMs) ?? 'never'],
    ...(key.disabledAtMs === null ? [] : [['disabled', toInstant(key.disabledAtMs)]]),
    ...(key.revokedAtMs === null ? [] : [['revoked', toInstant(key.revokedAtMs)]]),
  ];
}

function describeSpending({ standing: { budget }, spentPicoUsd, reservedPicoUsd }: KeyStanding): string[][] {
  if (budget === null) return [];
  return [
    ['  spent', `$${formatUsd(spentPicoUsd)}`],
    ['  reserved', `$${formatUsd(reservedPicoUsd)}`],
    ['  left', `$${formatUsd(budget.remainingPicoUsd)}`],
    ['  starts anew', toInstant(budget.resetsAtMs) ?? 'never'],
  ];
}

function describeBudget(budget: Budget | null): string {
  if (budget === null) return 'none';
  return `$${formatUsd(budget.amountPicoUsd)}${budget.reset === 'none' ? '' : ` a ${budget.reset}`}`;
}
