// How large those files of a model folder are that end up in memory.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readFolderFile } from './folder-file.ts';
import type { ModelFolder } from './manifest.ts';

export interface FolderSize {
  /** Graphs of one precision, each with the weights it names; weights that several graphs name count for each. */
  readonly weightBytes: number;
  /** Of the largest of them. */
  readonly largestGraphBytes: number;
  /** Of tokenizer.json, unpacked. */
  readonly tokenizerBytes: number;
  /** `WordPiece`, `Unigram`, `BPE`; empty: it says something else. */
  readonly tokenizerKind: string;
}

/** What may hold weights beside graphs; papers and tables are none. */
const NEVER_WEIGHTS = /\.(json|gz|md|txt)$|^SHA256SUMS$|^LICENSE/;
const TOKENIZER_KIND = /"type"\s*:\s*"(WordPiece|Unigram|BPE)"/;

/** @throws the file system's error */
export async function measureFolder(
  { path, manifest }: Pick<ModelFolder, 'path' | 'manifest'>,
  precision: string,
): Promise<FolderSize> {
  const graphs = Object.values(manifest.graphs[precision] ?? {});
  const beside = (await readdir(path)).filter((name) => !NEVER_WEIGHTS.test(name));
  const sizes = await Promise.all(graphs.map((graph) => measureGraph(path, graph, beside)));
  const tokenizer = await readFolderFile(path, 'tokenizer.json');
  return {
    weightBytes: sizes.reduce((sum, size) => sum + size, 0),
    largestGraphBytes: Math.max(0, ...sizes),
    tokenizerBytes: tokenizer.length,
    tokenizerKind: TOKENIZER_KIND.exec(tokenizer.toString('latin1'))?.[1] ?? '',
  };
}

/** A graph holds the names of the files that its weights lie in: beside the graphs, or in another graph. */
async function measureGraph(folder: string, graph: string, beside: readonly string[]): Promise<number> {
  const content = beside.length === 0 ? undefined : await readFile(join(folder, graph));
  const named = beside.filter((name) => name !== graph && content?.includes(name));
  const sizes = await Promise.all([graph, ...named].map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
