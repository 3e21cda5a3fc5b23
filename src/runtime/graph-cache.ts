// Optimised graphs kept on disk between starts: made once per host, library and model, then mapped by every session.
// Owns names, integrity and atomic replacement; what an entry holds is session.ts's.

import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { sumOfFile } from './model-folder/file-sum.ts';

/** Its time of change says when the entry was last used. */
const LIST_FILE = 'files.json';
const KEY_DIGITS = 16;
const DAY_MS = 86_400_000;
/**
 * An entry that no start has used for so long belongs to a model, a library or a host that is no more. Not sooner: hosts
 * of several kinds, and an old release beside a new one, may share a folder.
 */
const UNUSED_MS = 30 * DAY_MS;
/** A build that began so long ago was cut off. */
const ABANDONED_MS = DAY_MS;
const DRAFT_PREFIX = '.draft-';
const ENTRY_NAME = new RegExp(`-[0-9a-f]{${KEY_DIGITS}}$`);

export interface GraphCacheEntry {
  readonly cacheFolder: string;
  /** Start of the entry's name, for people. */
  readonly label: string;
  /** Everything the content depends on besides the host: model digest, graph, library version, options. */
  readonly inputs: readonly string[];
  /** Fills an empty folder. */
  readonly build: (folder: string) => Promise<void>;
}

export interface GraphCacheResult {
  readonly folder: string;
  readonly state: 'read' | 'written';
}

/** The entry's folder, built if it is absent or damaged. @param rebuild treat what is there as unusable */
export async function provideEntry(entry: GraphCacheEntry, rebuild = false): Promise<GraphCacheResult> {
  const folder = join(entry.cacheFolder, `${entry.label}-${cacheKeyOf(entry.inputs)}`);
  if (!rebuild && (await isIntact(folder))) {
    await markUsed(folder);
    return { folder, state: 'read' };
  }
  const draft = join(entry.cacheFolder, `${DRAFT_PREFIX}${randomUUID()}`);
  await mkdir(draft, { recursive: true });
  try {
    await entry.build(draft);
    await seal(draft);
    // Sessions that still map the old files keep them; the names are free for the new ones.
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
    await syncPath(entry.cacheFolder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have put the same entry there a moment before.
    if (!(await isIntact(folder))) throw error;
  }
  return { folder, state: 'written' };
}

/**
 * Deletes what nobody has used for long. Sessions of other processes that map such a file keep it until they end.
 * Whatever cannot be read or deleted stays.
 */
export async function dropUnusedEntries(cacheFolder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(cacheFolder).catch(() => [])) {
    const folder = join(cacheFolder, name);
    const isDraft = name.startsWith(DRAFT_PREFIX);
    if (!isDraft && !ENTRY_NAME.test(name)) continue;
    const used = await stat(isDraft ? folder : join(folder, LIST_FILE)).catch(() => undefined);
    if (used === undefined || nowMs - used.mtimeMs < (isDraft ? ABANDONED_MS : UNUSED_MS)) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A folder that may be read and not written is one that somebody else looks after. */
async function markUsed(folder: string): Promise<void> {
  const now = new Date();
  await utimes(join(folder, LIST_FILE), now, now).catch(() => undefined);
}

function cacheKeyOf(inputs: readonly string[]): string {
  const hash = createHash('sha256');
  for (const input of [...hostTraits(), ...inputs]) hash.update(`${input.length}:${input}`);
  return hash.digest('hex').slice(0, KEY_DIGITS);
}

/** What the kernels' choice of layout depends on. */
function hostTraits(): string[] {
  return [process.platform, process.arch, cpus()[0]?.model ?? '', cpuFlags()];
}

function cpuFlags(): string {
  try {
    return /^(?:flags|Features)\s*:.*$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[0] ?? '';
  } catch {
    return '';
  }
}

/** Writes the list of files with their sums, and everything to the disk, before the folder gets its name. */
async function seal(folder: string): Promise<void> {
  const sums: Record<string, string> = {};
  for (const name of await readdir(folder)) {
    sums[name] = await sumOfFile(join(folder, name));
    await syncPath(join(folder, name));
  }
  const list = join(folder, LIST_FILE);
  await writeFile(list, JSON.stringify(sums));
  await syncPath(list);
  await syncPath(folder);
}

async function isIntact(folder: string): Promise<boolean> {
  try {
    const sums: unknown = JSON.parse(await readFile(join(folder, LIST_FILE), 'utf8'));
    if (typeof sums !== 'object' || sums === null) return false;
    for (const [name, sum] of Object.entries(sums)) {
      if ((await sumOfFile(join(folder, name))) !== sum) return false;
    }
    return true;
  } catch {
    return false;
  }
}

export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
