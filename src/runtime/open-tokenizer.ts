// Opens the tokenizer of a model folder, in a worker or on the main thread: nothing here reaches a graph.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BertTokenizer, isBertFile } from './bert-tokenizer.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Tokenizers of this thread by content of their file: models may share one, and a vocabulary takes megabytes. */
const tokenizers = new Map<string, Tokenizer>();

/** @throws StartError, SyntaxError or what the file system says */
export async function openTokenizer(folderPath: string): Promise<Tokenizer> {
  const bytes = await readFile(join(folderPath, 'tokenizer.json'));
  const digest = createHash('sha256').update(bytes).digest('hex');
  const known = tokenizers.get(digest);
  if (known !== undefined) return known;
  const file: unknown = JSON.parse(bytes.toString());
  const tokenizer = isBertFile(file) ? new BertTokenizer(file) : await openLibraryTokenizer(file as object);
  tokenizers.set(digest, tokenizer);
  return tokenizer;
}

/** The library is loaded only where a model needs it: it takes some megabytes in every thread. */
async function openLibraryTokenizer(file: object): Promise<Tokenizer> {
  const { LibraryTokenizer } = await import('./library-tokenizer.ts');
  return new LibraryTokenizer(file);
}
