// One at a time at the folder of a model: who pulls, learns or removes it. The lock is SQLite's on a file that stays: it
// belongs to the process, and the operating system lets go of it however the process ends.

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../domain/errors.ts';
import { StartError } from '../start-error.ts';

const SQLITE_BUSY = 5;

/** A lock that nobody looked at any more would be collected as garbage, and with it let go. */
const held = new Set<DatabaseSync>();

export interface ModelLock {
  release(): void;
}

/** Somebody else is at work on the model. */
export class ModelBusyError extends StartError {}

/**
 * @param file is made, and stays: who removed it would let a third one in
 * @param id of the model
 * @throws ModelBusyError when somebody else holds it, in this process too; StartError when it cannot be written
 */
export async function holdModelLock(file: string, id: string): Promise<ModelLock> {
  return await holdFileLock(file, `Somebody else is at work on the model ${id}.`);
}

/** The same for anything else that one process does at a time. @param busy what is said when somebody else holds it */
export async function holdFileLock(file: string, busy: string): Promise<ModelLock> {
  const lock = await openLock(file);
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    const isHeld = error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === SQLITE_BUSY;
    if (!isHeld) throw cannotWrite(file, error);
    throw new ModelBusyError(`${busy} When that has ended, this can be tried again.`, { cause: error });
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
function cannotWrite(file: string, error: unknown): StartError {
  return new StartError(`Nothing can be written to ${dirname(file)} (${messageOf(error)}).`, { cause: error });
}
