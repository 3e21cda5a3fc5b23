// What lies in a folder and below it, with links followed to the files that they lead to.

import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { messageOf } from '../domain/errors.ts';
import { HubError } from './hub-error.ts';
import type { LocalFile } from './local-files.ts';
import { findNameFault, findPathFault } from './repository-path.ts';

/** More is no model: somebody has named the wrong folder. */
const MAX_ENTRIES = 20_000;

/**
 * Links to folders are not entered, and hidden folders (`.git`, `.cache`) are none of the model's.
 * @returns by path @throws HubError
 */
export async function listFolder(folder: string): Promise<LocalFile[]> {
  const entries: Dirent[] = [];
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of await readFolder(next)) {
      if (entry.isDirectory() && !entry.name.startsWith('.')) waiting.push(join(next, entry.name));
      else entries.push(entry);
    }
    if (entries.length + waiting.length > MAX_ENTRIES)
      throw new HubError(`${folder} has more than ${MAX_ENTRIES} files: it is not the folder of one model.`);
  }
  const files = await Promise.all(entries.map((entry) => readEntry(folder, entry)));
  return files.filter((file) => file !== undefined).sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function readFolder(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    throw new HubError(`The folder ${folder} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

async function readEntry(folder: string, entry: Dirent): Promise<LocalFile | undefined> {
  const place = join(entry.parentPath, entry.name);
  const path = relative(folder, place).split(sep).join('/');
  const found = await findTarget(place);
  if (found?.isFolder) return undefined;
  const fault = found === undefined ? 'its link leads to no file' : (findPathFault(path) ?? findNameFault(path));
  return { path, bytes: found?.bytes ?? 0, hash: undefined, fault, realPath: found?.realPath ?? place };
}

/** @returns undefined: neither a file nor a folder */
async function findTarget(
  place: string,
): Promise<{ readonly isFolder: boolean; readonly realPath: string; readonly bytes: number } | undefined> {
  try {
    const realPath = await realpath(place);
    const stats = await stat(realPath);
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
    return { isFolder: stats.isDirectory(), realPath, bytes: stats.size };
  } catch {
    return undefined;
  }
}
