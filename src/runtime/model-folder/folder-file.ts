// Files of a model folder. Each may lie packed, as `NAME.gz`: its name, its sum and the folder's digest are those of the
// content. JSON is unpacked whenever it is read; graphs and weights, which are mapped from where they lie, once, beside the
// packed file. Where both lie, the plain one is read, for whoever changes a file writes it plain.

import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { messageOf } from '../../domain/errors.ts';
import { StartError } from '../start-error.ts';
import { sumOfFile } from './file-sum.ts';

/** More than any JSON file of a model: a small file that unpacks into a larger one is a bomb. */
const MOST_UNPACKED_BYTES = 256 * 1024 * 1024;

const unpack = promisify(gunzip);

/** @returns the content @throws the file system's error about `name` itself, or StartError when it cannot be unpacked */
export async function readFolderFile(folder: string, name: string): Promise<Buffer> {
  return await orPacked(folder, name, async (path) => await readFile(path));
}

/** @returns SHA-256 of the content, lower-case hex; what is mapped is unpacked by this @throws as above */
export async function sumOfFolderFile(folder: string, name: string): Promise<string> {
  if (!name.endsWith('.json')) return await sumOfMappedFile(folder, name);
  const sum = await orPacked(folder, name, sumOfFile);
  return typeof sum === 'string' ? sum : createHash('sha256').update(sum).digest('hex');
}

export function packedName(name: string): string {
  return `${name}.gz`;
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

async function orPacked<T>(folder: string, name: string, read: (path: string) => Promise<T>): Promise<T | Buffer> {
  try {
    return await read(join(folder, name));
  } catch (error) {
    if (!isMissing(error)) throw error;
    const packed = await readFile(join(folder, packedName(name))).catch((reason: unknown) => {
      throw isMissing(reason) ? error : reason;
    });
    return await unpack(packed, { maxOutputLength: MOST_UNPACKED_BYTES }).catch((reason: unknown) => {
      throw cannotUnpack(name, reason);
    });
  }
}

async function sumOfMappedFile(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  try {
    return await sumOfFile(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await unpackBeside(path, name).catch((reason: unknown) => {
      throw isMissing(reason) ? error : cannotUnpack(name, reason);
    });
    return await sumOfFile(path);
  }
}

/** Two servers may do so at once: each moves a whole file of its own into the place. */
async function unpackBeside(path: string, name: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await pipeline(createReadStream(join(path, '..', packedName(name))), createGunzip(), createWriteStream(draft));
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

function cannotUnpack(name: string, reason: unknown): StartError {
  return new StartError(`${packedName(name)} cannot be unpacked: ${messageOf(reason)}`);
}
