// One pull of a model at a time. The lock is SQLite's on a file that stays: it belongs to the process, and the operating
// system lets go of it however the process ends.

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../domain/errors.ts';
import { HubError } from './hub-error.ts';

const SQLITE_BUSY = 5;

/** A lock that nobody looked at any more would be collected as garbage, and with it let go. */
const held = new Set<DatabaseSync>();

export interface PullLock {
  release(): void;
}

/**
 * @param file is made, and stays: who removed it would let a third one in
 * @param what is pulled, in words
 * @throws HubError when somebody else holds it, or it cannot be written
 */
export async function holdPullLock(file: string, what: string): Promise<PullLock> {
  const lock = await openLock(file);
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    const isHeld = error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === SQLITE_BUSY;
    if (!isHeld) throw cannotWrite(file, error);
    throw new HubError(`Another process is pulling ${what}. When it has ended, this can be tried again.`, {
      cause: error,
    });
  }
  held.add(lock);
  return {
    release() {
      held.delete(lock);
      lock.close();
    },
  };
}

async function openLock(file: string): Promise<DatabaseSync> {
  try {
    await mkdir(dirname(file), { recursive: true });
    return new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

/** The first thing that is written: a disk that nobody may write to shows here. */
function cannotWrite(file: string, error: unknown): HubError {
  return new HubError(`Nothing can be written to ${dirname(file)} (${messageOf(error)}).`, { cause: error });
}
