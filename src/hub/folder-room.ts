// Whether a folder has room for what shall be written into it, and what it means when it has not.

import { statfs } from 'node:fs/promises';
import { HubError } from './hub-error.ts';

/** Left alone: a store on the same disk must go on writing. */
const RESERVE_BYTES = 64 * 1024 * 1024;
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const MEGABYTE = 1e6;

/**
 * @param folder exists
 * @throws HubError
 */
export async function checkRoom(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  if (neededBytes === 0 || neededBytes + RESERVE_BYTES <= freeBytes) return;
  throw new HubError(
    `${folder} has room for ${showMegabytes(freeBytes)}; ${showMegabytes(neededBytes)} are still to come, and ${showMegabytes(RESERVE_BYTES)} must stay free.`,
  );
}

/** @returns the error, in words where it says that there is no room */
export function tellFullDisk(error: unknown, folder: string): unknown {
  const isFull = error instanceof Error && 'code' in error && FULL.includes(String(error.code));
  if (!isFull) return error;
  return new HubError(`There is no room left in ${folder}. What was taken stays there for the next try.`, {
    cause: error,
  });
}

function showMegabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(bytes < MEGABYTE ? 3 : 0)} MB`;
}
