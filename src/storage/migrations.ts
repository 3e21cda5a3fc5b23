// From any older schema to the newest, step by step. Steps are never edited once released; a new one is appended.

import { type Kysely, sql, type Transaction } from 'kysely';
import { createAccountingTables } from './accounting-tables.ts';
import { isPostgres } from './database-kind.ts';
import { indexLedgerByEnd } from './ledger-by-end.ts';
import { addUpstreamToLedger } from './ledger-upstream.ts';
import { addUpstreamFailuresToLedger } from './ledger-upstream-failures.ts';
import type { Database } from './schema.ts';
import { StorageError } from './storage-error.ts';

type Step = (transaction: Transaction<Database>) => Promise<void>;

/** Step `i` leads from schema version `i` to `i + 1`. */
const STEPS: readonly Step[] = [
  createApiKeys,
  createAccountingTables,
  indexLedgerByEnd,
  addUpstreamToLedger,
  addUpstreamFailuresToLedger,
];

/** The schema that this code reads and writes. */
export const newestSchemaVersion = STEPS.length;

/** Of PostgreSQL's advisory locks. Any number will do that no other program uses in the same database. */
const MIGRATION_LOCK = 8_671_237_301;

/**
 * All steps in one transaction that takes a lock first, so two processes that start at once do not both migrate.
 * @throws StorageError when the schema is newer than this code
 */
export async function migrate(database: Kysely<Database>, nowMs: number): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await takeLock(transaction);
    await transaction.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('version', 'integer', (column) => column.primaryKey())
      .addColumn('applied_at_ms', 'bigint', (column) => column.notNull())
      .execute();
    const version = await currentVersion(transaction);
    refuseNewer(version);
    for (const [index, step] of STEPS.entries()) {
      if (index < version) continue;
      await step(transaction);
      await transaction
        .insertInto('schema_migrations')
        .values({ version: index + 1, applied_at_ms: nowMs })
        .execute();
    }
  });
}

// On SQLite a transaction begins with the write lock.
async function takeLock(transaction: Transaction<Database>): Promise<void> {
  if (isPostgres(transaction)) await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(transaction);
}

async function currentVersion(transaction: Transaction<Database>): Promise<number> {
  const row = await transaction
    .selectFrom('schema_migrations')
    .select((select) => select.fn.max('version').as('version'))
    .executeTakeFirst();
  return Number(row?.version ?? 0);
}

/** Of a file or store that a command looks at. @throws StorageError when it is newer than this code */
export function requireKnownVersion(name: string, version: number): number {
  if (version <= newestSchemaVersion) return version;
  throw new StorageError(
    `${name} has schema ${version} and this version of umpire knows ${newestSchemaVersion}: a newer umpire wrote it.`,
  );
}

function refuseNewer(version: number): void {
  if (version <= newestSchemaVersion) return;
  throw new StorageError(
    `The store has schema ${version} and this version of umpire knows ${newestSchemaVersion}: it was last used by a newer umpire. ` +
      'Start that one, or use another data folder.',
  );
}

async function createApiKeys(transaction: Transaction<Database>): Promise<void> {
  await transaction.schema
    .createTable('api_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('visible_prefix', 'text', (column) => column.notNull())
    .addColumn('secret_hash', 'text', (column) => column.notNull().unique())
    .addColumn('models', 'text')
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint')
    .addColumn('revoked_at_ms', 'bigint')
    .execute();
}
