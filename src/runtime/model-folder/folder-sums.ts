// SHA256SUMS of a model folder: what it lists, whether the files are that, and the folder's digest. What is wrong is said
// with folder, file and reason.

import { createHash } from 'node:crypto';
import { messageOf } from '../../domain/errors.ts';
import { StartError } from '../start-error.ts';
import { isMissing, readFolderFile, sumOfFolderFile } from './folder-file.ts';

const SUMS_FILE = 'SHA256SUMS';
const SUM_LINE = /^([0-9a-f]{64}) [ *]([^/\\]+)$/;

export interface FolderSums {
  /** By file name. */
  readonly sums: ReadonlyMap<string, string>;
  /** `sha256:` + SHA-256 of the bytes of SHA256SUMS. */
  readonly digest: string;
}

/** @throws StartError */
export async function readSums(folder: string): Promise<FolderSums> {
  const bytes = await readOrFail(folder, SUMS_FILE);
  return {
    sums: parseSums(folder, bytes.toString('utf8')),
    digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
  };
}

/** Every file that is listed; every file of `needed` must be. @throws StartError */
export async function verifySums(folder: string, { sums }: FolderSums, needed: readonly string[]): Promise<void> {
  for (const name of needed) {
    if (!sums.has(name)) throw broken(folder, name, `it is not listed in ${SUMS_FILE}`);
  }
  for (const [name, sum] of sums) await verifyFile(folder, name, sum);
}

function parseSums(folder: string, text: string): Map<string, string> {
  const sums = new Map<string, string>();
  for (const line of text.split('\n').filter((entry) => entry !== '')) {
    const [, sum, name] = SUM_LINE.exec(line) ?? [];
    if (sum === undefined || name === undefined) {
      throw broken(folder, SUMS_FILE, `line ${sums.size + 1} is not "<sha256>  <file>"`);
    }
    sums.set(name, sum);
  }
  return sums;
}

async function verifyFile(folder: string, name: string, expected: string): Promise<void> {
  const actual = await sumOfFolderFile(folder, name).catch((error: unknown) => {
    throw broken(folder, name, reasonOf(error));
  });
  if (actual !== expected) {
    throw broken(folder, name, `checksum mismatch: ${SUMS_FILE} says ${expected}, the file has ${actual}`);
  }
}

/** @throws StartError */
export async function readOrFail(folder: string, name: string): Promise<Buffer> {
  try {
    return await readFolderFile(folder, name);
  } catch (error) {
    throw broken(folder, name, reasonOf(error));
  }
}

function reasonOf(error: unknown): unknown {
  return isMissing(error) ? 'the file is missing' : error;
}

export function broken(folder: string, name: string, reason: unknown): StartError {
  return new StartError(`model folder ${folder}: ${name}: ${messageOf(reason)}`);
}
