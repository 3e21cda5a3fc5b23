// What can be told of a store without changing it: its schema, whether it can be written, how its clock differs from ours.

import { accessSync, constants } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import { StoreUnavailableError } from '../domain/errors.ts';
import { requireKnownVersion } from './migrations.ts';
import type { Database } from './schema.ts';
import { type StoreLocation, sqliteFile, storeNameOf, withDatabase } from './store-connection.ts';

export interface InspectedStore {
  /** undefined: a database in which nobody has made a store yet. */
  readonly schemaVersion: number | undefined;
  readonly isWritable: boolean;
  /** How far our clock is ahead of the database server's; undefined: it has none of its own. */
  readonly clockAheadMs: number | undefined;
}

/**
 * Of a store that exists.
 * @param nowMs our clock
 * @throws StorageError when it cannot be reached or read, or is of a newer umpire
 */
export async function inspectStore(store: StoreLocation, nowMs: () => number): Promise<InspectedStore> {
  return await withDatabase(store, async (database) => {
    const version = await selectSchemaVersion(database).catch(async (error: unknown) => {
      if (error instanceof StoreUnavailableError) throw error;
      // A database that answers this is sound; it only lacks our tables.
      await sql`select 1`.execute(database);
      return undefined;
    });
    const schemaVersion = version === undefined ? undefined : requireKnownVersion(storeNameOf(store), version);
    if (store.type === 'sqlite') {
      return { schemaVersion, isWritable: canWrite(sqliteFile(store.dataDir)), clockAheadMs: undefined };
    }
    return { schemaVersion, ...(await inspectPostgres(database, nowMs, schemaVersion !== undefined)) };
  });
}

export async function selectSchemaVersion(database: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ version: number | null }>`select max(version) as version from schema_migrations`.execute(
    database,
  );
  return Number(rows[0]?.version ?? 0);
}

/** A standby server and a user without rights both read well. */
async function inspectPostgres(
  database: Kysely<Database>,
  nowMs: () => number,
  hasTables: boolean,
): Promise<Pick<InspectedStore, 'isWritable' | 'clockAheadMs'>> {
  const may = hasTables ? sql`has_table_privilege('ledger', 'insert')` : sql`has_schema_privilege('public', 'create')`;
  const askedAtMs = nowMs();
  const { rows } = await sql<{ writable: boolean; at: string }>`
    select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' and ${may} as writable,
           extract(epoch from clock_timestamp()) * 1000 as at`.execute(database);
  const halfwayMs = (askedAtMs + nowMs()) / 2;
  const [told] = rows;
  return {
    isWritable: told?.writable === true,
    clockAheadMs: told === undefined ? undefined : halfwayMs - Number(told.at),
  };
}

function canWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
