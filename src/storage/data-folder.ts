// The data folder as the operating system sees it: who else may open it, and how a secret gets into it. What the files in
// it hold, their owners know.

import { randomUUID } from 'node:crypto';
import { readdirSync, type Stats, statSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Bits of a mode that count for whoever is neither the owner nor in the group. */
const EVERYBODY = 0o007;
const EVERYBODY_READS = 0o004;
const EVERYBODY_WRITES = 0o002;

/**
 * @returns what every user of the machine may do with the folder, one sentence each; nothing where it is closed to them,
 * and where nobody made it yet
 */
export function findOpenDoors(dataDir: string): string[] {
  const folder = findStats(dataDir);
  // Windows has no such bits; its folders inherit their rights.
  if (folder === undefined || process.platform === 'win32' || (folder.mode & EVERYBODY) === 0) return [];
  const canWrite = (folder.mode & EVERYBODY_WRITES) !== 0;
  const files = readdirSync(dataDir).filter((name) => isOpenFile(join(dataDir, name)));
  return [
    `Every user of this machine may ${canWrite ? 'change' : 'look into'} the data folder ${dataDir} (mode ${modeOf(folder)})${canWrite ? ', and so replace keys and the ledger' : ''}: chmod o= ${dataDir}`,
    ...files.map(
      (name) => `Every user of this machine may open ${join(dataDir, name)}: chmod o= ${join(dataDir, name)}`,
    ),
  ];
}

function isOpenFile(path: string): boolean {
  const stats = findStats(path);
  return stats?.isFile() === true && (stats.mode & (EVERYBODY_READS | EVERYBODY_WRITES)) !== 0;
}

function findStats(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function modeOf({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

/**
 * Writes a file that its owner alone may read. Whatever has the name already gives way to it: through a link that somebody
 * has put there, the content would end up where that one wants it.
 */
export async function writeForOwner(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${randomUUID()}`;
  // Fails if it exists, and follows no link.
  const handle = await open(beside, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}
