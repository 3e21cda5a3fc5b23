// Step 2 of migrations.ts: keys with secrets of their own, prices, and everything that the ledger needs. Never edited
// once released.

import { type CreateTableBuilder, type RawBuilder, type SchemaModule, sql, type Transaction } from 'kysely';
import { isPostgres } from './database-kind.ts';
import type { Database } from './schema.ts';

/** Text in the order of its bytes, as SQLite has it, so that lists and pages are the same on both. */
type TextType = 'text' | RawBuilder<unknown>;

interface Types {
  readonly text: TextType;
  readonly isPostgres: boolean;
}

export async function createAccountingTables(transaction: Transaction<Database>): Promise<void> {
  const onPostgres = isPostgres(transaction);
  const types: Types = { isPostgres: onPostgres, text: onPostgres ? sql`text collate "C"` : 'text' };
  await moveSecretsOfKeys(transaction, types);
  const { schema } = transaction;
  await createPrices(schema, types);
  await createAuditLog(schema, types);
  await createAccounts(schema, types);
  await createReservations(schema, types);
  await createLedger(schema, types);
  await createUsageRollups(schema, types);
  await createIdempotency(schema, types);
}

// SQLite cannot drop a column that is unique: the table is made anew.
async function moveSecretsOfKeys(transaction: Transaction<Database>, { text }: Types): Promise<void> {
  const { schema } = transaction;
  await schema
    .createTable('api_keys_2')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('visible_prefix', text, (column) => column.notNull())
    .addColumn('models', text)
    .addColumn('scopes', text, (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('created_by', text, (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint')
    .addColumn('disabled_at_ms', 'bigint')
    .addColumn('revoked_at_ms', 'bigint')
    .addColumn('budget_pico_usd', text)
    .addColumn('budget_reset', text)
    .addColumn('requests_per_minute', 'bigint')
    .addColumn('tokens_per_minute', 'bigint')
    .addColumn('concurrent_requests', 'bigint')
    .execute();
  await schema
    .createTable('api_key_secrets')
    .addColumn('hash', text, (column) => column.primaryKey())
    .addColumn('key_id', text, (column) => column.notNull())
    .addColumn('visible_prefix', text, (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint')
    .execute();
  await sql`insert into api_keys_2
      (id, name, visible_prefix, models, scopes, created_at_ms, created_by, expires_at_ms, revoked_at_ms)
    select id, name, visible_prefix, models, scopes, created_at_ms, 'server', expires_at_ms, revoked_at_ms
    from api_keys`.execute(transaction);
  await sql`insert into api_key_secrets (hash, key_id, visible_prefix, created_at_ms)
    select secret_hash, id, visible_prefix, created_at_ms from api_keys`.execute(transaction);
  await schema.dropTable('api_keys').execute();
  await schema.alterTable('api_keys_2').renameTo('api_keys').execute();
  await schema.createIndex('api_keys_by_age').on('api_keys').columns(['created_at_ms', 'id']).execute();
  await schema.createIndex('api_key_secrets_by_key').on('api_key_secrets').column('key_id').execute();
}

async function createPrices(schema: SchemaModule, { text }: Types): Promise<void> {
  await schema
    .createTable('prices')
    .addColumn('model_id', text, (column) => column.notNull())
    .addColumn('effective_from_ms', 'bigint', (column) => column.notNull())
    .addColumn('input_micro_usd', 'bigint', (column) => column.notNull())
    .addColumn('cached_input_micro_usd', 'bigint', (column) => column.notNull())
    .addColumn('output_micro_usd', 'bigint', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('created_by', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('prices_pkey', ['model_id', 'effective_from_ms'])
    .execute();
}

async function createAuditLog(schema: SchemaModule, { text, isPostgres: onPostgres }: Types): Promise<void> {
  await schema
    .createTable('audit_log')
    .addColumn('id', onPostgres ? 'bigserial' : 'integer', (column) =>
      onPostgres ? column.primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('actor', text, (column) => column.notNull())
    .addColumn('action', text, (column) => column.notNull())
    .addColumn('target', text, (column) => column.notNull())
    .addColumn('details', text, (column) => column.notNull())
    .execute();
}

async function createAccounts(schema: SchemaModule, { text }: Types): Promise<void> {
  await schema
    .createTable('accounts')
    .addColumn('key_id', text, (column) => column.primaryKey())
    .addColumn('period_start_ms', 'bigint', (column) => column.notNull())
    .addColumn('spent_pico_usd', text, (column) => column.notNull())
    .addColumn('reserved_pico_usd', text, (column) => column.notNull())
    .addColumn('in_flight', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at_ms', 'bigint')
    .addColumn('minute_start_ms', 'bigint', (column) => column.notNull())
    .addColumn('requests_now', 'bigint', (column) => column.notNull())
    .addColumn('requests_before', 'bigint', (column) => column.notNull())
    .addColumn('tokens_now', 'bigint', (column) => column.notNull())
    .addColumn('tokens_before', 'bigint', (column) => column.notNull())
    .execute();
}

function withAcceptedRequest<Table extends string, Columns extends string>(
  table: CreateTableBuilder<Table, Columns>,
  { text }: Types,
) {
  return table
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('request_id', text, (column) => column.notNull())
    .addColumn('key_id', text, (column) => column.notNull())
    .addColumn('model_id', text, (column) => column.notNull())
    .addColumn('endpoint', text, (column) => column.notNull())
    .addColumn('is_streamed', 'integer', (column) => column.notNull())
    .addColumn('accepted_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('input_micro_usd', 'bigint', (column) => column.notNull())
    .addColumn('cached_input_micro_usd', 'bigint', (column) => column.notNull())
    .addColumn('output_micro_usd', 'bigint', (column) => column.notNull());
}

// Small at any time: it has no index beside its key.
async function createReservations(schema: SchemaModule, types: Types): Promise<void> {
  const { text } = types;
  await withAcceptedRequest(schema.createTable('reservations'), types)
    .addColumn('instance_id', text, (column) => column.notNull())
    .addColumn('cost_pico_usd', 'bigint', (column) => column.notNull())
    .addColumn('tokens', 'bigint', (column) => column.notNull())
    .addColumn('terms', text, (column) => column.notNull())
    .addColumn('claim_hash', text)
    .execute();
  await schema
    .createTable('instances')
    .addColumn('id', text, (column) => column.primaryKey())
    .addColumn('beat_at_ms', 'bigint', (column) => column.notNull())
    .execute();
}

async function createLedger(schema: SchemaModule, types: Types): Promise<void> {
  const { text } = types;
  await withAcceptedRequest(schema.createTable('ledger'), types)
    .addColumn('end_type', text, (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('error_code', text)
    .addColumn('input_tokens', 'bigint', (column) => column.notNull())
    .addColumn('cached_tokens', 'bigint', (column) => column.notNull())
    .addColumn('output_tokens', 'bigint', (column) => column.notNull())
    .addColumn('reasoning_tokens', 'bigint', (column) => column.notNull())
    .addColumn('is_estimated', 'integer', (column) => column.notNull())
    .addColumn('cost_pico_usd', 'bigint', (column) => column.notNull())
    .addColumn('duration_ms', 'bigint', (column) => column.notNull())
    .addColumn('wait_ms', 'bigint')
    .execute();
  // With the cost in it: what a key has spent is read from the index alone.
  await schema
    .createIndex('ledger_by_key')
    .on('ledger')
    .columns(['key_id', 'accepted_at_ms', 'cost_pico_usd'])
    .execute();
  await schema.createIndex('ledger_by_time').on('ledger').columns(['accepted_at_ms', 'id']).execute();
}

async function createUsageRollups(schema: SchemaModule, { text }: Types): Promise<void> {
  await schema
    .createTable('usage_rollups')
    .addColumn('key_id', text, (column) => column.notNull())
    .addColumn('hour_start_ms', 'bigint', (column) => column.notNull())
    .addColumn('model_id', text, (column) => column.notNull())
    .addColumn('endpoint', text, (column) => column.notNull())
    .addColumn('end_type', text, (column) => column.notNull())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .addColumn('input_tokens', 'bigint', (column) => column.notNull())
    .addColumn('cached_tokens', 'bigint', (column) => column.notNull())
    .addColumn('output_tokens', 'bigint', (column) => column.notNull())
    .addColumn('reasoning_tokens', 'bigint', (column) => column.notNull())
    .addColumn('cost_milli_usd', 'bigint', (column) => column.notNull())
    .addColumn('cost_rest_pico_usd', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_rollups_pkey', ['key_id', 'hour_start_ms', 'model_id', 'endpoint', 'end_type'])
    .execute();
  await schema.createIndex('usage_rollups_by_hour').on('usage_rollups').column('hour_start_ms').execute();
}

async function createIdempotency(schema: SchemaModule, { text }: Types): Promise<void> {
  await schema
    .createTable('idempotency')
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('key_id', text, (column) => column.notNull())
    .addColumn('fingerprint', text, (column) => column.notNull())
    .addColumn('request_row_id', text, (column) => column.notNull())
    .addColumn('is_done', 'integer', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('reply', text)
    .addPrimaryKeyConstraint('idempotency_pkey', ['key_hash', 'key_id'])
    .execute();
  await schema.createIndex('idempotency_by_expiry').on('idempotency').column('expires_at_ms').execute();
}
