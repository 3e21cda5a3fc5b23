// The tables as the query builder knows them, in types that every SQL store has. migrations.ts makes them.

import type { ColumnType } from 'kysely';
import type { LimitField } from '../domain/api-key.ts';

/** SQLite answers with a number while it is exact and a bigint beyond, PostgreSQL with text; written as a number. */
export type BigIntColumn = ColumnType<number | bigint | string, number | bigint, number | bigint>;

/** Decimal digits in text: what is added up here may pass 64 bits, and is only ever computed outside of SQL. */
export type DigitsColumn = string;

/** With a column for each limit. */
export interface ApiKeyTable extends Record<LimitField, BigIntColumn | null> {
  id: string;
  name: string;
  /** Of the newest secret. */
  visible_prefix: string;
  /** JSON array of model ids; null: all. */
  models: string | null;
  /** JSON array. */
  scopes: string;
  created_at_ms: BigIntColumn;
  created_by: string;
  expires_at_ms: BigIntColumn | null;
  disabled_at_ms: BigIntColumn | null;
  revoked_at_ms: BigIntColumn | null;
  /** null together with `budget_reset`: no budget. */
  budget_pico_usd: DigitsColumn | null;
  budget_reset: string | null;
}

export interface ApiKeySecretTable {
  hash: string;
  key_id: string;
  visible_prefix: string;
  created_at_ms: BigIntColumn;
  expires_at_ms: BigIntColumn | null;
}

export interface PriceTable {
  model_id: string;
  effective_from_ms: BigIntColumn;
  input_micro_usd: BigIntColumn;
  cached_input_micro_usd: BigIntColumn;
  output_micro_usd: BigIntColumn;
  created_at_ms: BigIntColumn;
  created_by: string;
}

export interface AuditTable {
  /** Given by the store, growing. */
  id: ColumnType<number | bigint | string, never, never>;
  at_ms: BigIntColumn;
  actor: string;
  action: string;
  target: string;
  /** JSON object. */
  details: string;
}

/** Where a key stands. One row per key that was ever used; the ledger can always give the sums again. */
export interface AccountTable {
  key_id: string;
  /** Start of the budget period that the sums below are of; 0: of all time. */
  period_start_ms: BigIntColumn;
  spent_pico_usd: DigitsColumn;
  reserved_pico_usd: DigitsColumn;
  in_flight: BigIntColumn;
  last_used_at_ms: BigIntColumn | null;
  /** Start of the minute that `…_now` counts; `…_before` counts the one before it. */
  minute_start_ms: BigIntColumn;
  requests_now: BigIntColumn;
  requests_before: BigIntColumn;
  tokens_now: BigIntColumn;
  tokens_before: BigIntColumn;
}

/** What a reservation and the row it becomes have in common. */
export interface AcceptedRequestColumns {
  id: string;
  request_id: string;
  key_id: string;
  model_id: string;
  endpoint: string;
  /** 0 or 1. */
  is_streamed: number;
  accepted_at_ms: BigIntColumn;
  input_micro_usd: BigIntColumn;
  cached_input_micro_usd: BigIntColumn;
  output_micro_usd: BigIntColumn;
}

export interface ReservationTable extends AcceptedRequestColumns {
  instance_id: string;
  cost_pico_usd: BigIntColumn;
  tokens: BigIntColumn;
  /** Budget and limits under which it was let in, as JSON. */
  terms: string;
  /** Of the idempotency claim; null: none. */
  claim_hash: string | null;
}

export interface LedgerTable extends AcceptedRequestColumns {
  /** A `RequestEnd`. */
  end_type: string;
  status: number;
  error_code: string | null;
  input_tokens: BigIntColumn;
  cached_tokens: BigIntColumn;
  output_tokens: BigIntColumn;
  reasoning_tokens: BigIntColumn;
  /** 0 or 1. */
  is_estimated: number;
  cost_pico_usd: BigIntColumn;
  duration_ms: BigIntColumn;
  wait_ms: BigIntColumn | null;
  /** Name in the configuration; null: none was asked, or the row is older than the column. */
  upstream: string | null;
  /** Names with reasons: `a:timeout b:connect`; null: none gave no answer, or the row is older than the column. */
  upstream_failures: string | null;
}

/** Rows of the ledger that were summed and deleted. */
export interface UsageRollupTable {
  /** Of acceptance. */
  hour_start_ms: BigIntColumn;
  key_id: string;
  model_id: string;
  endpoint: string;
  end_type: string;
  requests: BigIntColumn;
  input_tokens: BigIntColumn;
  cached_tokens: BigIntColumn;
  output_tokens: BigIntColumn;
  reasoning_tokens: BigIntColumn;
  /** Cost = `cost_milli_usd` × 10⁹ + `cost_rest_pico_usd`. In two parts neither a sum nor a sum of sums can overflow. */
  cost_milli_usd: BigIntColumn;
  cost_rest_pico_usd: BigIntColumn;
}

export interface IdempotencyTable {
  /** SHA-256 of the client's key; with the API key it is the identity. */
  key_hash: string;
  key_id: string;
  fingerprint: string;
  /** The request that runs or ran. */
  request_row_id: string;
  /** 0: it runs; 1: it has ended, and `reply` is what a retry gets; 2: a retry got it. */
  is_done: number;
  expires_at_ms: BigIntColumn;
  /** JSON; null: too large to be kept. */
  reply: string | null;
}

/** Processes that answer requests. */
export interface InstanceTable {
  id: string;
  beat_at_ms: BigIntColumn;
}

export interface MigrationTable {
  version: number;
  applied_at_ms: BigIntColumn;
}

export interface Database {
  api_keys: ApiKeyTable;
  api_key_secrets: ApiKeySecretTable;
  prices: PriceTable;
  audit_log: AuditTable;
  accounts: AccountTable;
  reservations: ReservationTable;
  ledger: LedgerTable;
  usage_rollups: UsageRollupTable;
  idempotency: IdempotencyTable;
  instances: InstanceTable;
  schema_migrations: MigrationTable;
}
