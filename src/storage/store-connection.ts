// One store held by a command as a whole: where it is, its connection, and its lock. Servers open stores.ts instead.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { messageOf } from '../domain/errors.ts';
import { migrate } from './migrations.ts';
import { describePostgres } from './postgres/postgres-commands.ts';
import type { Database } from './schema.ts';
import { FolderInUse, holdFolderLock } from './sqlite/folder-lock.ts';
import { createForOwner, LOCK_FILE_NAME, STORE_FILE_NAME } from './sqlite/open-sqlite-stores.ts';
import { SqliteConnection } from './sqlite/sqlite-connection.ts';
import { NodeSqliteDialect } from './sqlite/sqlite-dialect.ts';
import { StorageError } from './storage-error.ts';

/** Where a store is. */
export type StoreLocation =
  | { readonly type: 'sqlite'; readonly dataDir: string }
  | { readonly type: 'postgres'; readonly url: string; readonly connectTimeoutMs: number };

const BUSY_TIMEOUT_MS = 5000;
/** No report and no copied batch takes that long. */
const STATEMENT_TIMEOUT_MS = 600_000;

export function sqliteFile(dataDir: string): string {
  return join(dataDir, STORE_FILE_NAME);
}

/** Path, or address without a password. */
export function storeNameOf(store: StoreLocation): string {
  return store.type === 'sqlite' ? `SQLite ${sqliteFile(store.dataDir)}` : describePostgres(store.url);
}

/** @throws StorageError when a server uses the folder. PostgreSQL has no such lock: nothing is held there. */
export async function withServerLock<T>(store: StoreLocation, use: () => Promise<T>): Promise<T> {
  if (store.type === 'postgres') return await use();
  const lock = await takeFolderLock(store.dataDir);
  try {
    return await use();
  } finally {
    lock.close();
  }
}

/** @throws StorageError when it cannot be used */
export async function withDatabase<T>(
  store: StoreLocation,
  use: (database: Kysely<Database>) => Promise<T>,
): Promise<T> {
  try {
    return store.type === 'sqlite' ? await withSqlite(store.dataDir, use) : await withPostgres(store, use);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError(`${storeNameOf(store)} cannot be used: ${messageOf(error)}`);
  }
}

/** Brings its schema up to date. */
export async function withNewestSchema<T>(
  store: StoreLocation,
  use: (database: Kysely<Database>) => Promise<T>,
): Promise<T> {
  return await withDatabase(store, async (database) => {
    await migrate(database, Date.now());
    return await use(database);
  });
}

/** @throws StorageError when nothing was ever kept there */
export function refuseMissing(store: StoreLocation): void {
  if (store.type === 'sqlite' && !existsSync(sqliteFile(store.dataDir)))
    throw new StorageError(`There is no store: ${sqliteFile(store.dataDir)} does not exist.`);
}

/** Whether a server uses the store now; PostgreSQL takes any number of them. Makes no file. */
export function isInUse(store: StoreLocation): boolean {
  if (store.type === 'postgres') return false;
  const file = join(store.dataDir, LOCK_FILE_NAME);
  if (!existsSync(file)) return false;
  try {
    holdFolderLock(file).close();
    return false;
  } catch (error) {
    if (error instanceof FolderInUse) return true;
    throw error;
  }
}

async function takeFolderLock(dataDir: string) {
  const file = join(dataDir, LOCK_FILE_NAME);
  try {
    await createForOwner(file);
    return holdFolderLock(file);
  } catch (error) {
    if (!(error instanceof FolderInUse))
      throw new StorageError(`The data folder ${dataDir} cannot be written: ${messageOf(error)}.`);
    throw new StorageError(`A server uses the data folder ${dataDir}: stop it first.`);
  }
}

async function withSqlite<T>(dataDir: string, use: (database: Kysely<Database>) => Promise<T>): Promise<T> {
  const file = sqliteFile(dataDir);
  await createForOwner(file);
  const connection = new SqliteConnection(file, { busyTimeoutMs: BUSY_TIMEOUT_MS });
  const database = new Kysely<Database>({ dialect: new NodeSqliteDialect(connection) });
  try {
    return await use(database);
  } finally {
    await database.destroy();
  }
}

async function withPostgres<T>(
  { url, connectTimeoutMs }: Extract<StoreLocation, { type: 'postgres' }>,
  use: (database: Kysely<Database>) => Promise<T>,
): Promise<T> {
  // Loaded only where they are used: most installations never speak to PostgreSQL.
  const { createPool } = await import('./postgres/postgres-pool.ts');
  const { PostgresPoolDialect } = await import('./postgres/postgres-dialect.ts');
  const pool = createPool({ url, connectTimeoutMs, maxConnections: 1 });
  const dialect = new PostgresPoolDialect({ pool, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  try {
    return await use(new Kysely<Database>({ dialect }));
  } finally {
    await pool.end();
  }
}
