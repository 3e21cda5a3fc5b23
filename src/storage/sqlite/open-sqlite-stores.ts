// Opens the embedded store: folder, file, thread, schema. The default of the server; one file, several processes.

import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Kysely } from 'kysely';
import { KyselyAuditStore } from '../kysely-audit-store.ts';
import { KyselyKeyStore } from '../kysely-key-store.ts';
import { KyselyPriceStore } from '../kysely-price-store.ts';
import { migrate } from '../migrations.ts';
import type { Database } from '../schema.ts';
import { StorageError } from '../storage-error.ts';
import type { Stores } from '../stores.ts';
import { SqliteThreadDialect } from './sqlite-dialect.ts';
import { SqliteThread } from './sqlite-thread.ts';

export type OpenedStores = Pick<Stores, 'keys' | 'prices' | 'audit' | 'check' | 'close'>;

const FILE_NAME = 'umpire.sqlite';
const BUSY_TIMEOUT_MS = 5000;

/**
 * @param dataDir created for this user alone if it is missing
 * @throws StorageError when the folder cannot be written, the file is no database, or it is of a newer umpire
 */
export async function openSqliteStores(dataDir: string): Promise<OpenedStores> {
  const file = join(dataDir, FILE_NAME);
  await createFile(dataDir, file);
  const thread = await SqliteThread.open({ file, busyTimeoutMs: BUSY_TIMEOUT_MS });
  const database = new Kysely<Database>({ dialect: new SqliteThreadDialect(thread) });
  try {
    await migrate(database, Date.now());
  } catch (error) {
    await thread.close();
    throw error instanceof StorageError ? error : new StorageError(`The store ${file} cannot be used: ${text(error)}.`);
  }
  return {
    keys: new KyselyKeyStore(database),
    prices: new KyselyPriceStore(database),
    audit: new KyselyAuditStore(database),
    check: async () => {
      await database.selectFrom('schema_migrations').select('version').executeTakeFirst();
    },
    close: () => database.destroy(),
  };
}

// SQLite gives its journals the mode of the file, so the mode is right before it opens it.
async function createFile(dataDir: string, file: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const handle = await open(file, 'a', 0o600);
    await handle.close();
  } catch (error) {
    throw new StorageError(`The data folder ${dataDir} cannot be written: ${text(error)}.`);
  }
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
