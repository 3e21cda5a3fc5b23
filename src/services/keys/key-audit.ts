// What the audit trail says of a key, in the words of the HTTP routes: what it may do and spend. Never a secret; of its
// name, which is somebody's text, only that it was changed.

import type { ApiKey, KeyLimits } from '../../domain/api-key.ts';
import type { AuditRecord } from '../../domain/audit.ts';
import { formatUsd } from '../../domain/money.ts';
import type { KeyChange } from '../../storage/stores.ts';

type Details = AuditRecord['details'];

export function describeKey({ scopes, models, budget, limits, expiresAtMs }: ApiKey): Details {
  return describeChange({ scopes, models, budget, limits, expiresAtMs });
}

export function describeChange(change: KeyChange): Details {
  const { name, scopes, models, budget, limits, expiresAtMs, disabledAtMs } = change;
  const details = {
    name: name === undefined ? undefined : 'changed',
    scopes,
    models,
    budget: budget && { amount_usd: formatUsd(budget.amountPicoUsd), reset: budget.reset },
    limits: limits && describeLimits(limits),
    expires_at: describeTime(expiresAtMs),
    disabled_at: describeTime(disabledAtMs),
  };
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

function describeLimits({ requestsPerMinute, tokensPerMinute, concurrentRequests }: KeyLimits): Details {
  return {
    requests_per_minute: requestsPerMinute,
    tokens_per_minute: tokensPerMinute,
    concurrent_requests: concurrentRequests,
  };
}

function describeTime(ms: number | null | undefined): string | null | undefined {
  return typeof ms === 'number' ? new Date(ms).toISOString() : ms;
}
