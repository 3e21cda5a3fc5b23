// An API key as JSON, with the names that its routes, `umpire keys --json` and the audit trail share. Never a secret. Pure.

import type { KeyStanding } from './account.ts';
import { type ApiKey, type Budget, type BudgetReset, byLimitField, type KeyState, type LimitField } from './api-key.ts';
import { toInstant } from './instant.ts';
import { formatUsd } from './money.ts';

export function toKeyJson(key: ApiKey, state: KeyState) {
  return {
    id: key.id,
    name: key.name,
    visible_prefix: key.visiblePrefix,
    state,
    scopes: [...key.scopes],
    models: key.models === null ? null : [...key.models],
    budget: toBudgetJson(key.budget),
    limits: toLimitsJson(key.limits),
    created_at: toInstant(key.createdAtMs),
    created_by: key.createdBy,
    expires_at: toInstant(key.expiresAtMs),
    disabled_at: toInstant(key.disabledAtMs),
    revoked_at: toInstant(key.revokedAtMs),
    last_used_at: toInstant(key.lastUsedAtMs),
  };
}

export function toBudgetJson(budget: Budget | null): { amount_usd: string; reset: BudgetReset } | null {
  return budget === null ? null : { amount_usd: formatUsd(budget.amountPicoUsd), reset: budget.reset };
}

export function toLimitsJson(limits: ApiKey['limits']): Record<LimitField, number | null> {
  return byLimitField((name) => limits[name]);
}

/** What of the budget is gone, and what is left; null: the key has none. */
export function toBudgetStandingJson(key: ApiKey, { standing: { budget }, ...amounts }: KeyStanding) {
  if (budget === null) return null;
  return {
    amount_usd: formatUsd(budget.amountPicoUsd),
    reset: key.budget?.reset ?? 'none',
    spent_usd: formatUsd(amounts.spentPicoUsd),
    reserved_usd: formatUsd(amounts.reservedPicoUsd),
    remaining_usd: formatUsd(budget.remainingPicoUsd),
    resets_at: toInstant(budget.resetsAtMs),
  };
}
