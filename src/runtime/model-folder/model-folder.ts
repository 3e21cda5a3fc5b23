// Reads one model folder: manifest, checksums, digest. What is wrong is said with folder, file and reason. Graphs are
// opened by the workers alone.

import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { messageOf } from '../../domain/errors.ts';
import { StartError } from '../start-error.ts';
import { isBertFile } from '../tokenizer/bert-file.ts';
import { type FrameFile, readFrames } from '../tokenizer/frames.ts';
import { isMissing, readFolderFile, sumOfFolderFile } from './folder-file.ts';
import type { Manifest, ModelFolder } from './manifest.ts';
import { parseManifest } from './manifest-schema.ts';

const SUMS_FILE = 'SHA256SUMS';
const SUM_LINE = /^([0-9a-f]{64}) [ *]([^/\\]+)$/;
const ALWAYS_NEEDED = ['model.json', 'tokenizer.json', 'golden.json'];

/** Reads and verifies a folder of models/README.md's layout. @throws StartError */
export async function readModelFolder(path: string): Promise<ModelFolder> {
  const folder = resolve(path);
  const sumsBytes = await readOrFail(folder, SUMS_FILE);
  const sums = parseSums(folder, sumsBytes.toString('utf8'));
  const manifest = await readManifest(folder);
  requireListed(folder, manifest, sums);
  for (const [name, sum] of sums) await verifyFile(folder, name, sum);
  const digest = `sha256:${createHash('sha256').update(sumsBytes).digest('hex')}`;
  return { path: folder, manifest, ...(await readTokenizerOf(folder)), digest };
}

/** Of a folder that may be anything else than what its checksums say. @throws StartError */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = (await readOrFail(folder, 'model.json')).toString('utf8');
  try {
    return parseManifest(JSON.parse(text));
  } catch (error) {
    throw broken(folder, 'model.json', error);
  }
}

async function readTokenizerOf(folder: string): Promise<Pick<ModelFolder, 'frames' | 'isWordPiece'>> {
  const text = (await readOrFail(folder, 'tokenizer.json')).toString('utf8');
  try {
    const file = JSON.parse(text) as FrameFile;
    return { frames: readFrames(file), isWordPiece: isBertFile(file) };
  } catch (error) {
    throw broken(folder, 'tokenizer.json', error);
  }
}

/** @returns sum by file name */
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

function requireListed(folder: string, manifest: Manifest, sums: ReadonlyMap<string, string>): void {
  const graphs = Object.values(manifest.graphs).flatMap((files) => Object.values(files));
  for (const name of [...ALWAYS_NEEDED, ...graphs]) {
    if (!sums.has(name)) throw broken(folder, name, `it is not listed in ${SUMS_FILE}`);
  }
}

async function verifyFile(folder: string, name: string, expected: string): Promise<void> {
  const actual = await sumOfFolderFile(folder, name).catch((error: unknown) => {
    throw broken(folder, name, reasonOf(error));
  });
  if (actual !== expected) {
    throw broken(folder, name, `checksum mismatch: ${SUMS_FILE} says ${expected}, the file has ${actual}`);
  }
}

async function readOrFail(folder: string, name: string): Promise<Buffer> {
  try {
    return await readFolderFile(folder, name);
  } catch (error) {
    throw broken(folder, name, reasonOf(error));
  }
}

function reasonOf(error: unknown): unknown {
  return isMissing(error) ? 'the file is missing' : error;
}

function broken(folder: string, name: string, reason: unknown): StartError {
  const text = messageOf(reason);
  return new StartError(`model folder ${folder}: ${name}: ${text}`);
}
