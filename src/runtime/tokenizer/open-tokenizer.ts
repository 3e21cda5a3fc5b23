// Opens the tokenizer of a model folder, in a worker or on the main thread: nothing here reaches a graph. Chooses between
// the C++ addon, our JavaScript and the library.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAddon, loadAddon, type NativeAddon } from '../native.ts';
import { isBertFile } from './bert-file.ts';
import { BertTokenizer } from './bert-tokenizer.ts';
import { addVocabulary, NativeTokenizer } from './native-tokenizer.ts';
import type { Tokenizer } from './tokenizer.ts';

/** `auto`: the addon where it is built. Both give the same ids. */
export type TokenizerChoice = 'auto' | 'javascript';

/** Tokenizers of this thread by choice and content of their file: models may share one, and a vocabulary takes megabytes. */
const tokenizers = new Map<string, Tokenizer>();

/** @throws StartError, SyntaxError or what the file system says */
export async function openTokenizer(folderPath: string, choice: TokenizerChoice = 'auto'): Promise<Tokenizer> {
  const bytes = await readFile(join(folderPath, 'tokenizer.json'));
  const digest = createHash('sha256').update(bytes).digest('hex');
  const known = tokenizers.get(`${choice} ${digest}`);
  if (known !== undefined) return known;
  const addon = await findAddon(choice);
  const tokenizer = await open(bytes, digest, typeof addon === 'string' ? undefined : addon);
  tokenizers.set(`${choice} ${digest}`, tokenizer);
  return tokenizer;
}

async function open(bytes: Buffer, digest: string, addon: NativeAddon | undefined): Promise<Tokenizer> {
  // A vocabulary that another thread has already need not be parsed.
  const shared = addon?.find(digest);
  if (addon !== undefined && shared !== undefined) return new NativeTokenizer(addon, shared);
  const file: unknown = JSON.parse(bytes.toString());
  if (!isBertFile(file)) return openLibraryTokenizer(file as object);
  return addon === undefined ? new BertTokenizer(file) : new NativeTokenizer(addon, addVocabulary(addon, digest, file));
}

/** Which code reads the texts of BERT's models, and why not the fast one: for the log of a start. */
export async function tellTokenizer(choice: TokenizerChoice = 'auto'): Promise<string> {
  const addon = await findAddon(choice);
  return typeof addon === 'string' ? `javascript (${addon})` : 'native';
}

/** @returns why there is none */
async function findAddon(choice: TokenizerChoice): Promise<NativeAddon | string> {
  if (choice === 'javascript') return 'as configured';
  const addon = await loadAddon();
  return isAddon(addon) ? addon : addon.reason;
}

/** The library is loaded only where a model needs it: it takes some megabytes in every thread. */
async function openLibraryTokenizer(file: object): Promise<Tokenizer> {
  const { LibraryTokenizer } = await import('./library-tokenizer.ts');
  return new LibraryTokenizer(file);
}
