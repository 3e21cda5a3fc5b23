// Opens the embedded store: folder, file, thread. The default of the server; one file, for one server and for commands.

import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../domain/errors.ts';
import { GroupedLedger } from '../grouped-ledger.ts';
import { StorageError } from '../storage-error.ts';
import type { Stores } from '../stores.ts';
import { SqliteClient } from './sqlite-client.ts';

export interface SqliteOptions {
  /** Created for this user alone if it is missing. */
  readonly dataDir: string;
  /** For a server: no other may use the folder. A command works beside it. */
  readonly exclusive: boolean;
}

export const STORE_FILE_NAME = 'umpire.sqlite';
export const LOCK_FILE_NAME = 'umpire.lock';
const BUSY_TIMEOUT_MS = 5000;

/**
 * @throws StorageError when the folder cannot be written, another server uses it, the file is no database, or it is of a
 * newer umpire
 */
export async function openSqliteStores({ dataDir, exclusive }: SqliteOptions): Promise<Stores> {
  const file = join(dataDir, STORE_FILE_NAME);
  const lockFile = exclusive ? join(dataDir, LOCK_FILE_NAME) : undefined;
  await createFiles(dataDir, lockFile === undefined ? [file] : [file, lockFile]);
  const client = await SqliteClient.open({ file, lockFile, busyTimeoutMs: BUSY_TIMEOUT_MS });
  // A report may take seconds, and no request may wait for it: a server has a second thread for reports.
  const readerData = { file, lockFile: undefined, isReader: true, busyTimeoutMs: BUSY_TIMEOUT_MS };
  const reader = exclusive ? new SqliteClient(readerData) : client;
  return {
    keys: client.store('keys'),
    prices: client.store('prices'),
    ledger: new GroupedLedger(client.store('ledger')),
    usage: { ...reader.store('usage'), rollUp: client.store('usage').rollUp },
    audit: client.store('audit'),
    check: client.store('connection').check,
    async close() {
      await reader.close();
      await client.close();
    },
  };
}

/** With its folder. SQLite gives its journals the mode of the file, so the mode is right before it opens it. */
export async function createForOwner(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await (await open(file, 'a', 0o600)).close();
}

async function createFiles(dataDir: string, files: readonly string[]): Promise<void> {
  try {
    for (const file of files) await createForOwner(file);
  } catch (error) {
    throw new StorageError(`The data folder ${dataDir} cannot be written: ${messageOf(error)}.`);
  }
}
