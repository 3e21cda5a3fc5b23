// What `umpire db …` does to a store as a whole: backup, restore, check, copy. Chooses between the databases; the work
// itself is in the files that it calls.

import type { Kysely } from 'kysely';
import { messageOf, StoreUnavailableError } from '../domain/errors.ts';
import type { CheckedStore, CopiedStore, RestoredStore, StoreBackup } from '../domain/store-report.ts';
import { checkBooks } from './check-store.ts';
import { copyStore } from './copy-store.ts';
import { selectSchemaVersion } from './inspect-store.ts';
import { newestSchemaVersion, requireKnownVersion } from './migrations.ts';
import { dumpCommand, restoreCommand } from './postgres/postgres-commands.ts';
import type { Database } from './schema.ts';
import { backupSqlite } from './sqlite/sqlite-backup.ts';
import { restoreSqlite } from './sqlite/sqlite-restore.ts';
import { integrityFaultsOf } from './sqlite/store-file.ts';
import { StorageError } from './storage-error.ts';
import {
  refuseMissing,
  type StoreLocation,
  sqliteFile,
  storeNameOf,
  withDatabase,
  withNewestSchema,
  withServerLock,
} from './store-connection.ts';

/** @throws StorageError; on PostgreSQL always, with the command that does it there */
export async function backupStore(
  store: StoreLocation,
  file: string,
  options: { readonly overwrite: boolean },
): Promise<StoreBackup> {
  if (store.type === 'sqlite') return await backupSqlite(sqliteFile(store.dataDir), file, options);
  throw new StorageError(
    `The store is on PostgreSQL, whose own program makes backups. It takes the password from PGPASSWORD or ~/.pgpass:\n\n  ${dumpCommand(store.url, file)}\n`,
  );
}

/** @throws StorageError; on PostgreSQL always, with the command that does it there */
export async function restoreStore(store: StoreLocation, file: string, nowMs: number): Promise<RestoredStore> {
  if (store.type === 'sqlite')
    return await withServerLock(store, () => restoreSqlite(sqliteFile(store.dataDir), file, { nowMs }));
  throw new StorageError(
    `The store is on PostgreSQL, whose own program restores. Stop every server, then:\n\n  ${restoreCommand(store.url, file)}\n`,
  );
}

/** Changes nothing. @throws StorageError when there is no store, or it is of a newer umpire */
export async function checkStore(store: StoreLocation): Promise<CheckedStore> {
  refuseMissing(store);
  const damage = store.type === 'sqlite' ? integrityFaultsOf(sqliteFile(store.dataDir)) : [];
  const told = { name: storeNameOf(store), newestSchemaVersion, damage };
  if (damage.length > 0) return { ...told, schemaVersion: undefined, books: undefined };
  return await withDatabase(store, async (database) => {
    const schemaVersion = await readSchemaVersion(database, store);
    const books = schemaVersion === newestSchemaVersion ? await checkBooks(database) : undefined;
    return { ...told, schemaVersion, books };
  });
}

/**
 * Copies everything. Both schemas are brought up to date first.
 * @throws StorageError when a server uses one of the two, or the target is not empty; then the target stays empty
 */
export async function copyBetweenStores(
  source: StoreLocation,
  target: StoreLocation,
  nowMs: number,
): Promise<CopiedStore> {
  refuseMissing(source);
  return await withServerLock(source, () =>
    withServerLock(target, () =>
      withNewestSchema(source, (from) => withNewestSchema(target, (to) => copyStore(from, to, nowMs))),
    ),
  );
}

async function readSchemaVersion(database: Kysely<Database>, store: StoreLocation): Promise<number> {
  const version = await selectSchemaVersion(database).catch((error: unknown) => {
    if (error instanceof StoreUnavailableError) throw error;
    throw new StorageError(`${storeNameOf(store)} holds no store of umpire: ${messageOf(error)}`);
  });
  return requireKnownVersion(storeNameOf(store), version);
}
