// The small files of a repository that a recipe is read from, seen from one folder of it. Nothing else of them is known
// here than that they are JSON.

import { isRecord } from '../domain/json.ts';
import { RecipeError } from './recipe-error.ts';

/** What a recipe needs of a repository. Graphs are only listed. */
export interface RecipeSource {
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** @param path of `files` */
  readText(path: string): Promise<string>;
}

/** A value and where it stands: `config.json: max_position_embeddings`. */
export interface Sourced<Value> {
  readonly value: Value;
  readonly from: string;
}

/** Names that say which weights are whose; the rest of a repository is never fetched. */
const SMALL_FILES = [
  /^(config|config_sentence_transformers|modules|rl_agent_config|sentence_[a-z-]+_config)\.json$/,
  /^(tokenizer\/)?tokenizer(_config)?\.json$/,
  // Of a step of sentence-transformers, which may have any name.
  /^[^/]+\/config\.json$/,
];
/** Of a vocabulary of 256,000 words in JSON. */
const MOST_TOKENIZER_BYTES = 64 * 1024 * 1024;
/** A "configuration" that is larger is none: the names of 20,000 classes take a megabyte. */
const MOST_CONFIG_BYTES = 4 * 1024 * 1024;

export class RecipeFiles {
  readonly #source: RecipeSource;
  readonly #prefix: string;
  readonly #parsed = new Map<string, Promise<unknown>>();

  /** @param subfolder of the repository in which everything lies; empty: its root */
  constructor(source: RecipeSource, subfolder: string) {
    this.#source = source;
    this.#prefix = subfolder === '' ? '' : `${subfolder.replace(/\/+$/, '')}/`;
  }

  /** Relative to the folder. */
  get files(): RecipeSource['files'] {
    const inside = this.#source.files.filter(({ path }) => path.startsWith(this.#prefix));
    return inside.map(({ path, bytes }) => ({ path: path.slice(this.#prefix.length), bytes }));
  }

  has(path: string): boolean {
    return this.#source.files.some((file) => file.path === this.#prefix + path);
  }

  /** As the repository names it. */
  fullPath(path: string): string {
    return this.#prefix + path;
  }

  /** @returns undefined when the repository has no such file. @throws RecipeError when it is no JSON */
  async findJson(path: string): Promise<unknown> {
    if (!this.has(path)) return undefined;
    const known = this.#parsed.get(path) ?? this.#parse(path);
    this.#parsed.set(path, known);
    return await known;
  }

  /** The same of a file that holds an object; absent: an empty one. @throws RecipeError */
  async readObject(path: string): Promise<Readonly<Record<string, unknown>>> {
    const value = (await this.findJson(path)) ?? {};
    if (!isRecord(value)) throw new RecipeError(`${path} holds no JSON object.`);
    return value;
  }

  async #parse(path: string): Promise<unknown> {
    const text = await this.#source.readText(this.#prefix + path);
    try {
      return JSON.parse(text);
    } catch {
      throw new RecipeError(`${path} is no valid JSON.`);
    }
  }
}

/** Which files of a listing a recipe may want to read: all are fetched before anything is decided. */
export function listSmallFiles(files: RecipeSource['files'], subfolder: string): string[] {
  const prefix = subfolder === '' ? '' : `${subfolder.replace(/\/+$/, '')}/`;
  const isSmall = (path: string): boolean => SMALL_FILES.some((pattern) => pattern.test(path.slice(prefix.length)));
  return files
    .filter(({ path, bytes }) => path.startsWith(prefix) && bytes <= mostBytesOf(path) && isSmall(path))
    .map(({ path }) => path);
}

function mostBytesOf(path: string): number {
  return /(^|\/)tokenizer\.json$/.test(path) ? MOST_TOKENIZER_BYTES : MOST_CONFIG_BYTES;
}
