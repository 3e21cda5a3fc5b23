// What is asked of a SQLite file as a whole: is it sound, is it ours, do we know its schema, is it on the disk.

import { existsSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../domain/errors.ts';
import { requireKnownVersion } from '../migrations.ts';
import { StorageError } from '../storage-error.ts';

/** How long a look at a file in use waits for a write that is under way. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Reads every page of a file that nobody has open.
 * @param name for the message, instead of the file's own
 * @returns its schema version
 * @throws StorageError when it is damaged, no store of ours, or newer than this code
 */
export function examineStoreFile(file: string, name: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const faults = integrityFaults(database);
    if (faults.length > 0) throw new StorageError(`${name} is damaged: ${faults.join('; ')}.`);
    return knownSchemaVersion(database, name);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError(`${name} is damaged or no database: ${messageOf(error)}.`);
  } finally {
    database.close();
  }
}

/** @returns what is wrong with a file that others may use meanwhile; nothing when it is sound */
export function integrityFaultsOf(file: string): readonly string[] {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    return integrityFaults(database);
  } catch (error) {
    return [messageOf(error)];
  } finally {
    database?.close();
  }
}

function integrityFaults(database: DatabaseSync): string[] {
  const lines = database.prepare('PRAGMA integrity_check(10)').all();
  return lines.map((line) => String(line['integrity_check'])).filter((line) => line !== 'ok');
}

/** @throws StorageError when it is no store of ours, or newer than this code */
function knownSchemaVersion(database: DatabaseSync, name: string): number {
  const table = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'");
  if (table.get() === undefined) throw new StorageError(`${name} is a database, but none of umpire.`);
  const row = database.prepare('SELECT max(version) AS version FROM schema_migrations').get();
  return requireKnownVersion(name, Number(row?.['version'] ?? 0));
}

export function refuseExisting(file: string): void {
  if (existsSync(file)) throw new StorageError(`${file} exists already; \`--force\` overwrites it.`);
}

export function isSameFile(one: string, other: string): boolean {
  const [left, right] = [one, other].map((file) => statSync(file, { throwIfNoEntry: false, bigint: true }));
  return left !== undefined && right !== undefined && left.ino === right.ino && left.dev === right.dev;
}

export async function syncToDisk(fileOrFolder: string): Promise<void> {
  const handle = await open(fileOrFolder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
