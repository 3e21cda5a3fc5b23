// What the audit trail says of a key: what it may do and spend. Never a secret; of its name, which is somebody's text,
// only that it was changed.

import type { ApiKey } from '../domain/api-key.ts';
import { formatUsd } from '../domain/money.ts';
import type { AuditRecord, KeyChange } from '../storage/stores.ts';

type Details = AuditRecord['details'];

export function describeKey({ scopes, models, budget, limits, expiresAtMs }: ApiKey): Details {
  return describeChange({ scopes, models, budget, limits, expiresAtMs });
}

export function describeChange({ name, budget, ...change }: KeyChange): Details {
  return {
    ...change,
    ...(name === undefined ? {} : { name: 'changed' }),
    ...(budget === undefined ? {} : { budget: describeBudget(budget) }),
  };
}

function describeBudget(budget: KeyChange['budget']): Details | null {
  return budget ? { amountUsd: formatUsd(budget.amountPicoUsd), reset: budget.reset } : null;
}
