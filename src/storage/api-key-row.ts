// An API key as a row of its table, and back.

import type { Insertable, Selectable, Updateable } from 'kysely';
import {
  type ApiKey,
  type Budget,
  type BudgetReset,
  byLimit,
  byLimitField,
  KEY_LIMITS,
  type KeyScope,
} from '../domain/api-key.ts';
import { withoutAbsent } from '../domain/without-absent.ts';
import type { AccountTable, ApiKeySecretTable, ApiKeyTable } from './schema.ts';
import type { KeyChange, KeySecret } from './stores.ts';

type KeyRow = Selectable<ApiKeyTable> & Partial<Pick<Selectable<AccountTable>, 'last_used_at_ms'>>;

export function toKeyRow(key: ApiKey): Insertable<ApiKeyTable> {
  return {
    id: key.id,
    name: key.name,
    visible_prefix: key.visiblePrefix,
    models: toModelsColumn(key.models),
    scopes: JSON.stringify(key.scopes),
    created_at_ms: key.createdAtMs,
    created_by: key.createdBy,
    expires_at_ms: key.expiresAtMs,
    disabled_at_ms: key.disabledAtMs,
    revoked_at_ms: key.revokedAtMs,
    ...toBudgetColumns(key.budget),
    ...byLimitField((name) => key.limits[name]),
  };
}

export function toSecretRow(keyId: string, secret: KeySecret): Insertable<ApiKeySecretTable> {
  return {
    hash: secret.hash,
    key_id: keyId,
    visible_prefix: secret.visiblePrefix,
    created_at_ms: secret.createdAtMs,
    expires_at_ms: secret.expiresAtMs,
  };
}

export function toChangedColumns(change: KeyChange): Updateable<ApiKeyTable> {
  const { name, models, scopes, budget, limits, expiresAtMs, disabledAtMs } = change;
  return withoutAbsent({
    name,
    models: models === undefined ? undefined : toModelsColumn(models),
    scopes: scopes && JSON.stringify(scopes),
    ...(budget === undefined ? {} : toBudgetColumns(budget)),
    ...(limits && byLimitField((limit) => limits[limit])),
    expires_at_ms: expiresAtMs,
    disabled_at_ms: disabledAtMs,
  });
}

export function toApiKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    visiblePrefix: row.visible_prefix,
    models: row.models === null ? null : (JSON.parse(row.models) as string[]),
    scopes: JSON.parse(row.scopes) as KeyScope[],
    budget: toBudget(row),
    limits: byLimit((name) => toNumber(row[KEY_LIMITS[name].field])),
    createdAtMs: Number(row.created_at_ms),
    createdBy: row.created_by,
    expiresAtMs: toNumber(row.expires_at_ms),
    disabledAtMs: toNumber(row.disabled_at_ms),
    revokedAtMs: toNumber(row.revoked_at_ms),
    lastUsedAtMs: toNumber(row.last_used_at_ms ?? null),
  };
}

function toModelsColumn(models: readonly string[] | null): string | null {
  return models === null ? null : JSON.stringify(models);
}

function toBudgetColumns(budget: Budget | null) {
  return {
    budget_pico_usd: budget === null ? null : String(budget.amountPicoUsd),
    budget_reset: budget === null ? null : budget.reset,
  };
}

function toBudget(row: KeyRow): Budget | null {
  if (row.budget_pico_usd === null || row.budget_reset === null) return null;
  return { amountPicoUsd: BigInt(row.budget_pico_usd), reset: row.budget_reset as BudgetReset };
}

function toNumber(value: number | bigint | string | null): number | null {
  return value === null ? null : Number(value);
}
