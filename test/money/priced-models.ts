// Copies of tiny models with prices, so that what they do costs something.

import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { layForeignFolders } from '../fixtures/foreign-folders.ts';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');

export const DECISION_MODEL = 'tiny-decision';
export const EMBEDDING_MODEL = 'tiny-embedding';
/** An embedding model with prompts. */
export const PROMPTED_MODEL = 'qwen3-last';
export const RERANKER_MODEL = 'bert-reranker';
/** Micro-dollars per million tokens: odd, so that a sum that forgets a row cannot be right by chance. */
const DECISION_PRICE = 37_813;
const EMBEDDING_PRICE = 2_003;
const RERANKER_PRICE = 5_081;

/** With graphs in half precision, in which the word `calm` overflows, and in full. */
export const HALF_DECISION_MODEL = 'tiny-half';
export const HALF_EMBEDDING_MODEL = 'tiny-half-embedding';

export class PricedModels {
  readonly #parent = mkdtempSync(join(tmpdir(), 'umpire-priced-'));
  readonly folders: readonly string[];

  /** @param kind of the graphs of our own models */
  constructor(kind: 'full' | 'half' = 'full') {
    const [decision, embedding] =
      kind === 'full' ? [DECISION_MODEL, EMBEDDING_MODEL] : [HALF_DECISION_MODEL, HALF_EMBEDDING_MODEL];
    this.folders = [
      this.#copy(decision, DECISION_PRICE),
      this.#copy(embedding, EMBEDDING_PRICE),
      this.#copyForeign(PROMPTED_MODEL, EMBEDDING_PRICE),
      this.#copyForeign(RERANKER_MODEL, RERANKER_PRICE),
    ];
  }

  remove(): void {
    rmSync(this.#parent, { recursive: true });
  }

  #copy(name: string, inputMicroUsd: number): string {
    const folder = join(this.#parent, name);
    cpSync(join(FIXTURES, name), folder, { recursive: true });
    return setPrice(folder, inputMicroUsd);
  }

  #copyForeign(name: string, inputMicroUsd: number): string {
    const [folder = ''] = layForeignFolders(this.#parent, [name]);
    return setPrice(folder, inputMicroUsd);
  }
}

function setPrice(folder: string, inputMicroUsd: number): string {
  const file = join(folder, 'model.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { price: object };
  manifest.price = { input_micro_usd_per_million_tokens: inputMicroUsd, output_micro_usd_per_million_tokens: 0 };
  writeFileSync(file, JSON.stringify(manifest));
  replaceSum(folder, file);
  return folder;
}

function replaceSum(folder: string, file: string): void {
  const sums = join(folder, 'SHA256SUMS');
  const name = basename(file);
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
  writeFileSync(
    sums,
    readFileSync(sums, 'utf8').replace(new RegExp(`^[0-9a-f]{64}  ${name}$`, 'm'), `${sum}  ${name}`),
  );
}
