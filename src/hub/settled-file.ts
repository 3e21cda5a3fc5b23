// A file appears under its name at once and whole, or not at all, and a loss of power changes nothing of that.

import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Gives what lies at `partial`, written to its end, its name. Whatever has that name gives way. */
export async function settleFile(partial: string, path: string): Promise<void> {
  await flushToDisk(partial);
  await mkdir(dirname(path), { recursive: true });
  await rename(partial, path);
  // Windows opens no folders, and needs it not.
  if (process.platform !== 'win32') await flushToDisk(dirname(path));
}

async function flushToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
