// Opens the tokenizer of a model folder, in a worker or on the main thread: nothing here reaches a graph. Chooses between
// the C++ addon and our JavaScript for BERT's files, and knows what other files are for.

import { createHash } from 'node:crypto';
import { readFolderFile } from '../model-folder/folder-file.ts';
import { isAddon, loadAddon, type NativeAddon } from '../native.ts';
import { isBertFile } from './bert-file.ts';
import { BertTokenizer } from './bert-tokenizer.ts';
import { addVocabulary, NativeTokenizer } from './native-tokenizer.ts';
import { PipelineTokenizer } from './pipeline-tokenizer.ts';
import type { Tokenizer } from './tokenizer.ts';
import { readTokenizerFile } from './tokenizer-file.ts';

/** `auto`: the addon where it is built. Both give the same ids. */
export type TokenizerChoice = 'auto' | 'javascript';

/** Tokenizers of this thread by choice and content of their file: models may share one, and a vocabulary takes megabytes. */
const tokenizers = new Map<string, Tokenizer>();

/** @throws StartError, SyntaxError or what the file system says */
export async function openTokenizer(folderPath: string, choice: TokenizerChoice = 'auto'): Promise<Tokenizer> {
  const bytes = await readFolderFile(folderPath, 'tokenizer.json');
  const digest = createHash('sha256').update(bytes).digest('hex');
  const known = tokenizers.get(`${choice} ${digest}`);
  if (known !== undefined) return known;
  const addon = await findAddon(choice);
  const tokenizer = open(bytes, digest, typeof addon === 'string' ? undefined : addon);
  tokenizers.set(`${choice} ${digest}`, tokenizer);
  return tokenizer;
}

function open(bytes: Buffer, digest: string, addon: NativeAddon | undefined): Tokenizer {
  const file = readTokenizerFile(bytes);
  if (isBertFile(file)) return openBertTokenizer(file, digest, addon);
  return new PipelineTokenizer(file as object);
}

function openBertTokenizer(file: unknown, digest: string, addon: NativeAddon | undefined): Tokenizer {
  if (addon === undefined) return new BertTokenizer(file);
  // Another thread may have made the vocabulary.
  return new NativeTokenizer(addon, addon.find(digest) ?? addVocabulary(addon, digest, file), file);
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
