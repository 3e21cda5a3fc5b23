// Makes a model folder out of files that were taken, and puts it in its place at once: until then nobody sees it, and
// whatever cuts this off leaves the model that was there, or none.

import { constants, existsSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncPath } from '../../runtime/graph-cache.ts';
import { sumOfFile } from '../../runtime/model-folder/file-sum.ts';
import { holdModelLock } from '../../runtime/model-folder/model-lock.ts';
import { type PulledPlaces, placesOf, pulledModelsDir } from './pulled-places.ts';

const SUMS_FILE = 'SHA256SUMS';
/** A name of `PulledPlaces.former`. */
const FORMER = /^\.former-(.+)$/;

/** Empties what an earlier pull has left, and brings back what it was about to replace. */
export async function cleanPlaces({ folder, draft, former }: PulledPlaces): Promise<void> {
  await rm(draft, { recursive: true, force: true });
  if (!existsSync(former)) return;
  if (existsSync(folder)) await rm(former, { recursive: true, force: true });
  else await rename(former, folder);
}

/**
 * Where a replacement was cut off between two moments, the former model is still there: a start has it again. What somebody
 * is at work on, and what cannot be written, stays as it is.
 */
export async function bringBackFormer(dataDir: string): Promise<void> {
  const models = pulledModelsDir(dataDir);
  const names = existsSync(models) ? await readdir(models) : [];
  for (const id of names.flatMap((name) => FORMER.exec(name)?.[1] ?? [])) {
    const places = placesOf(dataDir, id);
    if (existsSync(places.folder)) continue;
    const lock = await holdModelLock(places.lock, id).catch(() => undefined);
    if (lock === undefined) continue;
    await cleanPlaces(places).catch(() => undefined);
    lock.release();
  }
}

/** Files by their last names, without a second copy where the file system can. @param files absolute paths */
export async function fillDraft(draft: string, files: readonly string[]): Promise<void> {
  await mkdir(draft, { recursive: true, mode: 0o700 });
  for (const file of files) {
    const place = join(draft, basename(file));
    await link(file, place).catch(() => copyFile(file, place, constants.COPYFILE_FICLONE));
  }
}

/** Writes the last files, the sums of all, and everything to the disk. @param content by name */
export async function sealDraft(draft: string, content: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(content)) await writeFile(join(draft, name), text);
  const names = (await readdir(draft)).filter((name) => name !== SUMS_FILE).sort();
  const sums: string[] = [];
  for (const name of names) {
    sums.push(`${await sumOfFile(join(draft, name))}  ${name}\n`);
    await syncPath(join(draft, name));
  }
  await writeFile(join(draft, SUMS_FILE), sums.join(''));
  await syncPath(join(draft, SUMS_FILE));
  await syncFolder(draft);
}

/** From here on it is the model. Servers that have the former one open keep it until they end. */
export async function putInPlace({ folder, draft, former }: PulledPlaces): Promise<void> {
  if (existsSync(folder)) await rename(folder, former);
  await rename(draft, folder);
  await syncFolder(join(folder, '..'));
  await rm(former, { recursive: true, force: true });
}

/** Windows opens no folders, and needs it not. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform !== 'win32') await syncPath(path);
}
