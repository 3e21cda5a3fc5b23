// Reads one model folder: manifest, checksums, digest. What is wrong is said with folder, file and reason. Graphs are
// opened by the workers alone.

import { resolve } from 'node:path';
import { isBertFile } from '../tokenizer/bert-file.ts';
import { type FrameFile, readFrames } from '../tokenizer/frames.ts';
import { broken, readOrFail, readSums, verifySums } from './folder-sums.ts';
import type { Manifest, ModelFolder } from './manifest.ts';
import { parseManifest } from './manifest-schema.ts';

const ALWAYS_NEEDED = ['model.json', 'tokenizer.json', 'golden.json'];

/** Reads and verifies a folder of models/README.md's layout. @throws StartError */
export async function readModelFolder(path: string): Promise<ModelFolder> {
  const folder = resolve(path);
  const sums = await readSums(folder);
  const manifest = await readManifest(folder);
  const graphs = Object.values(manifest.graphs).flatMap((files) => Object.values(files));
  await verifySums(folder, sums, [...ALWAYS_NEEDED, ...graphs]);
  return { path: folder, manifest, ...(await readTokenizerOf(folder)), digest: sums.digest };
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
