// What the audit trail says of a key, in the words of the HTTP routes: what it may do and spend. Never a secret; of its
// name, which is somebody's text, only that it was changed.

import type { ApiKey } from '../../domain/api-key.ts';
import type { AuditRecord } from '../../domain/audit.ts';
import { toInstant } from '../../domain/instant.ts';
import { toBudgetJson, toLimitsJson } from '../../domain/key-json.ts';
import { withoutAbsent } from '../../domain/without-absent.ts';
import type { KeyChange } from '../../storage/stores.ts';

type Details = AuditRecord['details'];

export function describeKey({ scopes, models, budget, limits, expiresAtMs }: ApiKey): Details {
  return describeChange({ scopes, models, budget, limits, expiresAtMs });
}

export function describeChange(change: KeyChange): Details {
  const { name, scopes, models, budget, limits, expiresAtMs, disabledAtMs } = change;
  return withoutAbsent({
    name: name === undefined ? undefined : 'changed',
    scopes,
    models,
    budget: budget === undefined ? undefined : toBudgetJson(budget),
    limits: limits && toLimitsJson(limits),
    expires_at: expiresAtMs === undefined ? undefined : toInstant(expiresAtMs),
    disabled_at: disabledAtMs === undefined ? undefined : toInstant(disabledAtMs),
  });
}
