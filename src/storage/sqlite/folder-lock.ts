// The lock of a data folder: whoever holds it is the only server there. A second SQLite file, because its lock belongs to
// the process and the operating system lets go of it however the process ends.

import { DatabaseSync } from 'node:sqlite';
import { resultCodeOf, SQLITE_BUSY } from './sqlite-error.ts';

/** A server that is just ending, or a thread of this one that was lost, has not let go of the lock yet. */
const LOCK_TIMEOUT_MS = 500;

/** Somebody else holds the lock. */
export class FolderInUse extends Error {}

export interface FolderLock {
  close(): void;
}

/**
 * @param file exists
 * @throws FolderInUse
 */
export function holdFolderLock(file: string): FolderLock {
  const lock = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw resultCodeOf(error) === SQLITE_BUSY ? new FolderInUse('Another process holds the lock.') : error;
  }
  return lock;
}
