// Opens the shared store: connections, schema, stores. For any number of processes at once.

import { Kysely } from 'kysely';
import type { Pool } from 'pg';
import { StoreUnavailableError } from '../../domain/errors.ts';
import { GroupedLedger } from '../grouped-ledger.ts';
import { KyselyAuditStore } from '../kysely-audit-store.ts';
import { KyselyKeyStore } from '../kysely-key-store.ts';
import { KyselyPriceStore } from '../kysely-price-store.ts';
import { KyselyUsageStore } from '../kysely-usage-store.ts';
import { migrate } from '../migrations.ts';
import type { Database } from '../schema.ts';
import { StorageError } from '../storage-error.ts';
import type { Stores } from '../stores.ts';
import { PostgresPoolDialect } from './postgres-dialect.ts';
import { describeFailure } from './postgres-error.ts';
import { PostgresLedger } from './postgres-ledger.ts';
import { createPool } from './postgres-pool.ts';
import { retryConflicts } from './retry-conflicts.ts';

export interface PostgresOptions {
  readonly url: string;
  /** For requests. Reports have two more, so that no report ever holds up a request. */
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

const REPORT_CONNECTIONS = 2;
const REPORT_TIMEOUT_FACTOR = 10;
/** A schema may have to be changed by one process while the others wait for it. */
const MIGRATION_TIMEOUT_MS = 600_000;

/** @throws StorageError when the server cannot be reached, does not let us in, or holds the data of a newer umpire */
export async function openPostgresStores(options: PostgresOptions): Promise<Stores> {
  const { url, poolSize, connectTimeoutMs, statementTimeoutMs } = options;
  const pool = createPool({ url, connectTimeoutMs, maxConnections: poolSize });
  const reportPool = createPool({ url, connectTimeoutMs, maxConnections: REPORT_CONNECTIONS });
  const close = closeOnce([pool, reportPool], connectTimeoutMs);
  try {
    await migrate(databaseOn(pool, MIGRATION_TIMEOUT_MS), Date.now());
  } catch (error) {
    await close();
    if (error instanceof StorageError) throw error;
    const { host, pathname } = new URL(url);
    throw new StorageError(`The store on PostgreSQL (${host}${pathname}) cannot be used: ${reasonOf(error)}.`);
  }
  const database = databaseOn(pool, statementTimeoutMs);
  const reports = databaseOn(reportPool, statementTimeoutMs * REPORT_TIMEOUT_FACTOR);
  return {
    keys: retryConflicts(new KyselyKeyStore(database)),
    prices: retryConflicts(new KyselyPriceStore(database)),
    ledger: new GroupedLedger(retryConflicts(new PostgresLedger(database))),
    usage: retryConflicts(new KyselyUsageStore(reports)),
    audit: retryConflicts(new KyselyAuditStore(database)),
    check: async () => {
      await database.selectFrom('schema_migrations').select('version').executeTakeFirst();
    },
    close,
  };
}

function databaseOn(pool: Pool, statementTimeoutMs: number): Kysely<Database> {
  return new Kysely<Database>({ dialect: new PostgresPoolDialect({ pool, statementTimeoutMs }) });
}

/** A server that does not answer is not waited for: it notices by itself that we are gone. */
function closeOnce(pools: readonly Pool[], limitMs: number): () => Promise<void> {
  let closing: Promise<unknown> | undefined;
  return async () => {
    closing ??= Promise.race([
      Promise.all(pools.map((pool) => pool.end())),
      new Promise((resolve) => setTimeout(resolve, limitMs).unref()),
    ]);
    await closing;
  };
}

/** What the server or the system said, without our own words around it. Neither quotes a password. */
function reasonOf(error: unknown): string {
  return describeFailure(error instanceof StoreUnavailableError ? error.cause : error);
}
