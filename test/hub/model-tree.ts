// A folder with the files of a small model, as tests of pulling need one. The bytes are of no model.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Tree = Readonly<Record<string, string | Uint8Array>>;

/** Of a card with a licence. */
const CARD = '---\nlicense: Apache-2.0\ntags: [onnx, reranker]\n---\n# A model\n';

export const SMALL_TREE: Tree = {
  'README.md': CARD,
  'config.json': '{"model_type": "bert"}\n',
  'onnx/model.onnx': filled(300_000, 7),
};

/** @returns bytes that repeat nowhere soon, so that a piece at the wrong place shows */
export function filled(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = state >>> 16;
  }
  return bytes;
}

function writeTree(folder: string, tree: Tree): void {
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** Names of all that lies in a folder and below. */
export function listEntries(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).sort();
}

/** Folders of one test file, removed by `dispose`. */
export class ScratchFolders {
  readonly #root = mkdtempSync(join(tmpdir(), 'umpire-hub-'));
  #count = 0;

  make(tree: Tree = {}): string {
    const folder = join(this.#root, String(this.#count++));
    mkdirSync(folder);
    writeTree(folder, tree);
    return folder;
  }

  dispose(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}
