// A copy of the SQLite file that is made while a server writes to it.

import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../domain/errors.ts';
import type { StoreBackup } from '../../domain/store-report.ts';
import { StorageError } from '../storage-error.ts';
import { examineStoreFile, isSameFile, refuseExisting, syncToDisk } from './store-file.ts';

/** How long a copy waits for a write that is under way. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * One read transaction, so the copy is of one moment, and in WAL mode no writer waits for it.
 * @param target readable by its owner alone; appears only when it is whole and on the disk
 * @throws StorageError when there is no store, the target exists and may not be overwritten, or the disk is full
 */
export async function backupSqlite(
  storeFile: string,
  target: string,
  { overwrite }: { readonly overwrite: boolean },
): Promise<StoreBackup> {
  const file = resolve(target);
  if (!existsSync(storeFile)) throw new StorageError(`There is no store to back up: ${storeFile} does not exist.`);
  if (isSameFile(storeFile, file)) throw new StorageError('A backup cannot take the place of the store itself.');
  if (!overwrite) refuseExisting(file);
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    // SQLite fills an empty file that is there, and leaves its mode.
    await (await open(partial, 'wx', 0o600)).close();
    copyPages(storeFile, partial);
    const schemaVersion = examineStoreFile(partial, 'The backup');
    await syncToDisk(partial);
    if (overwrite) renameSync(partial, file);
    else moveToNewName(partial, file);
    await syncToDisk(dirname(file));
    return { file, bytes: statSync(file).size, schemaVersion };
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError(`The backup ${file} cannot be written: ${messageOf(error)}.`);
  } finally {
    rmSync(partial, { force: true });
  }
}

function copyPages(storeFile: string, target: string): void {
  const store = new DatabaseSync(storeFile, { timeout: BUSY_TIMEOUT_MS });
  try {
    store.prepare('VACUUM INTO ?').run(target);
  } finally {
    store.close();
  }
}

/** @throws StorageError when there is a file of that name by now */
function moveToNewName(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    refuseExisting(to);
    // No hard links here.
    if (isCode(error, 'EEXIST')) throw error;
    renameSync(from, to);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
