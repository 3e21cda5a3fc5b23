// A backup put back in the place of the SQLite file.

import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { chmod } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../domain/errors.ts';
import type { RestoredStore } from '../../domain/store-report.ts';
import { StorageError } from '../storage-error.ts';
import { resultCodeOf, SQLITE_BUSY } from './sqlite-error.ts';
import { examineStoreFile, isSameFile, refuseExisting, syncToDisk } from './store-file.ts';

const DATABASE_HEADER = 'SQLite format 3\0';

/**
 * Puts a backup in the place of the store, which is kept aside. The caller holds the lock of the data folder. At every
 * moment the name of the store leads to a whole file: the old one, then the new one.
 * @throws StorageError when the backup is damaged or newer than this code, or another process has the store open
 */
export async function restoreSqlite(
  storeFile: string,
  source: string,
  { nowMs }: { readonly nowMs: number },
): Promise<RestoredStore> {
  const backup = resolve(source);
  if (!existsSync(backup)) throw new StorageError(`There is no backup ${backup}.`);
  if (isSameFile(storeFile, backup)) throw new StorageError('The store cannot be restored from itself.');
  if (isNotEmpty(`${backup}-wal`) || isNotEmpty(`${backup}-journal`)) {
    throw new StorageError(
      `${backup} has a journal beside it, so it is no backup by \`umpire db backup\` but a store in use.`,
    );
  }
  const partial = `${storeFile}.${randomUUID()}.partial`;
  try {
    copyFileSync(backup, partial, constants.COPYFILE_EXCL);
    await chmod(partial, 0o600);
    const schemaVersion = examineStoreFile(partial, backup);
    await syncToDisk(partial);
    const keptAside = existsSync(storeFile) ? putAside(storeFile, nowMs) : null;
    renameSync(partial, storeFile);
    await syncToDisk(dirname(storeFile));
    return { file: storeFile, schemaVersion, keptAside };
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError(`The backup ${backup} cannot be restored: ${messageOf(error)}.`);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** @returns the name it is kept under */
function putAside(storeFile: string, nowMs: number): string {
  const aside = `${storeFile}.before-${new Date(nowMs).toISOString().replaceAll(/[-:.]/g, '')}`;
  refuseExisting(aside);
  foldJournalIn(storeFile);
  copyName(storeFile, aside);
  // Left only by a store that could not be opened. Under the old name they would be taken for journals of the new one.
  for (const journal of ['-wal', '-shm', '-journal']) {
    if (existsSync(`${storeFile}${journal}`)) renameSync(`${storeFile}${journal}`, `${aside}${journal}`);
  }
  return aside;
}

/** Leaving WAL mode needs the file alone: it fails while any other process has it open. */
function foldJournalIn(storeFile: string): void {
  // Of a file that is no database SQLite would delete the journal.
  if (!beginsAsDatabase(storeFile)) return;
  const database = new DatabaseSync(storeFile, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = DELETE');
  } catch (error) {
    // Anything else is a damaged store, which is as good a reason to restore as any.
    if (resultCodeOf(error) === SQLITE_BUSY) {
      throw new StorageError('Another process has the store open: let `umpire` commands end, then try again.');
    }
  } finally {
    database.close();
  }
}

/** A second name for the same file where the file system has that, else a copy. */
function copyName(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

function beginsAsDatabase(file: string): boolean {
  const start = Buffer.alloc(DATABASE_HEADER.length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, start);
  } finally {
    closeSync(descriptor);
  }
  return start.toString('latin1') === DATABASE_HEADER;
}

function isNotEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
