// A learned model on disk, verified: its manifest, its heads, the rows that they were fitted on.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { FrozenQuestion } from '../../learning/frozen-rows.ts';
import { readHeads } from '../../learning/heads-file.ts';
import type { LearnedModel } from '../../learning/learned-model.ts';
import { readFrozenRows } from '../../learning/rows-file.ts';
import { broken, readOrFail, readSums, verifySums } from '../../runtime/model-folder/folder-sums.ts';
import { type LearnedManifest, parseLearnedManifest } from '../../runtime/model-folder/learned-manifest.ts';
import { holdModelLock } from '../../runtime/model-folder/model-lock.ts';
import { StartError } from '../../runtime/start-error.ts';
import { placesOf, pulledModelsDir } from '../pull/pulled-places.ts';

export const HEADS_FILE = 'heads.bin';
export const ROWS_FILE = 'rows.bin';
const MANIFEST_FILE = 'model.json';
const SAYS_LEARNED = /"family"\s*:\s*"learned"/;

export interface LearnedFolder {
  /** Absolute. */
  readonly path: string;
  /** `sha256:` + SHA-256 of the bytes of SHA256SUMS. */
  readonly digest: string;
  readonly manifest: LearnedManifest;
  readonly model: LearnedModel;
}

/** Whether a folder is meant as one, whatever is wrong with it. */
export function isLearnedFolder(path: string): boolean {
  if (existsSync(join(path, HEADS_FILE)) || existsSync(join(path, ROWS_FILE))) return true;
  try {
    return SAYS_LEARNED.test(readFileSync(join(path, MANIFEST_FILE), 'utf8'));
  } catch {
    return false;
  }
}

/** Of a data folder, by name. What begins with a dot is being made, or was given up. */
export function listLearnedFolders(dataDir: string): readonly string[] {
  const place = pulledModelsDir(dataDir);
  if (!existsSync(place)) return [];
  const names = readdirSync(place).filter((name) => !name.startsWith('.'));
  return names
    .sort()
    .map((name) => join(place, name))
    .filter(isLearnedFolder);
}

/** Checksums agree, manifest and heads can be read, and it lies under its own id. @throws StartError */
export async function readLearnedFolder(path: string): Promise<LearnedFolder> {
  const folder = await readAnyLearned(path);
  const { id } = folder.manifest;
  if (basename(folder.path) === id) return folder;
  throw broken(folder.path, MANIFEST_FILE, `its id is ${id}: a learned model lies in a folder of its own name`);
}

/** As above, wherever it lies. @throws StartError */
export async function readAnyLearned(path: string): Promise<LearnedFolder> {
  const folder = resolve(path);
  const sums = await readSums(folder);
  await verifySums(folder, sums, [MANIFEST_FILE, HEADS_FILE, ROWS_FILE]);
  const manifest = await read(folder, MANIFEST_FILE, (bytes) =>
    parseLearnedManifest(JSON.parse(bytes.toString('utf8'))),
  );
  const questions = await read(folder, HEADS_FILE, readHeads);
  const { id, base, embedder, dimensions } = manifest;
  const odd = questions.find(({ head }) => head.centre.length !== dimensions);
  if (odd !== undefined)
    throw broken(folder, HEADS_FILE, `a head of ${odd.head.centre.length} dimensions, not ${dimensions}`);
  return { path: folder, digest: sums.digest, manifest, model: { id, base, embedder, dimensions, questions } };
}

/** What it was fitted on, for rows that are added. @throws StartError */
export async function readLearnedRows(path: string): Promise<readonly FrozenQuestion[]> {
  return await read(resolve(path), ROWS_FILE, readFrozenRows);
}

/** Gone at once, whatever happens while its files are deleted. @throws StartError when there is none, or it cannot be; ModelBusyError */
export async function removeLearnedFolder(dataDir: string, id: string): Promise<void> {
  const places = placesOf(dataDir, id);
  const lock = await holdModelLock(places.lock, id);
  try {
    if (!existsSync(places.folder) || !isLearnedFolder(places.folder)) {
      throw new StartError(`There is no learned model ${JSON.stringify(id)} in ${pulledModelsDir(dataDir)}.`);
    }
    await rm(places.draft, { recursive: true, force: true });
    await rename(places.folder, places.draft);
    await rm(places.draft, { recursive: true });
    await rm(places.former, { recursive: true, force: true });
  } finally {
    lock.release();
  }
}

async function read<T>(folder: string, name: string, parse: (bytes: Buffer) => T): Promise<T> {
  const bytes = await readOrFail(folder, name);
  try {
    return parse(bytes);
  } catch (error) {
    throw broken(folder, name, error);
  }
}
