// Which worker has read which document: a mirror of the workers' caches, found by hashes of the text, and which documents
// were asked about before. A hint only: what a worker really keeps is known to it alone, and its replies put the directory
// right.

import { hash } from 'node:crypto';

/** A document as the directory knows it. */
export interface DocumentHashes {
  /** Of the text up to the end of each block, the last one being the whole text. At least one. */
  readonly chain: readonly string[];
  readonly characters: number;
}

/** What one worker is expected to have of a document. */
export interface KeptShare {
  readonly worker: number;
  /** Of the document's text, from its begin: 0 to 1; 1 is all of it. */
  readonly part: number;
}

interface KeptDocument {
  readonly document: DocumentHashes;
  readonly bytes: number;
}

/** Short enough that a document that grew is found by nearly all of its begin, long enough to be cheap to hash. */
const BLOCK_CHARACTERS = 1024;
/** Documents that are remembered by name alone: about 0.5 MB. */
const MAX_SEEN = 4096;

/** Documents that one worker keeps, the least recently used first. */
class WorkerDocuments {
  /** By the hash of the whole text. */
  readonly #documents = new Map<string, KeptDocument>();
  /** How many documents have a begin. */
  readonly #begins = new Map<string, number>();
  #bytes = 0;

  /** @returns 0 to 1 */
  findPart({ chain, characters }: DocumentHashes): number {
    if (this.#documents.has(nameOf(chain))) return 1;
    // The last hash is of all the text: only whole blocks can be shared with another document.
    for (let blocks = chain.length - 1; blocks > 0; blocks--) {
      if (this.#begins.has(chain[blocks - 1] ?? '')) return (blocks * BLOCK_CHARACTERS) / characters;
    }
    return 0;
  }

  put(document: DocumentHashes, bytes: number, mostBytes: number): void {
    this.remove(document);
    if (bytes > mostBytes) return;
    for (const kept of this.#documents.values()) {
      if (this.#bytes + bytes <= mostBytes) break;
      this.remove(kept.document);
    }
    this.#documents.set(nameOf(document.chain), { document, bytes });
    this.#bytes += bytes;
    this.#countBegins(document, 1);
  }

  remove({ chain }: DocumentHashes): void {
    const kept = this.#documents.get(nameOf(chain));
    if (kept === undefined) return;
    this.#documents.delete(nameOf(chain));
    this.#bytes -= kept.bytes;
    this.#countBegins(kept.document, -1);
  }

  #countBegins({ chain }: DocumentHashes, by: number): void {
    for (const name of chain.slice(0, -1)) {
      const count = (this.#begins.get(name) ?? 0) + by;
      if (count > 0) this.#begins.set(name, count);
      else this.#begins.delete(name);
    }
  }
}

export class StateDirectory {
  readonly #cacheBytes: number;
  #workers: WorkerDocuments[];
  /** Names of documents, those asked about last at the end. */
  readonly #seen = new Set<string>();

  /** @param cacheBytes of each worker; 0: nothing is kept and nothing is hashed */
  constructor(workers: number, cacheBytes: number) {
    this.#cacheBytes = cacheBytes;
    this.#workers = Array.from({ length: workers }, () => new WorkerDocuments());
  }

  /** Whether a document of this size is kept at all. */
  canKeep(bytes: number): boolean {
    return bytes <= this.#cacheBytes;
  }

  /** @returns undefined when no worker keeps anything */
  hash(modelId: string, text: string): DocumentHashes | undefined {
    return this.#cacheBytes === 0 ? undefined : hashDocument(modelId, text);
  }

  /** Notes that somebody asks about a document. @returns whether somebody did before, not too long ago */
  see({ chain }: DocumentHashes): boolean {
    const name = nameOf(chain);
    const wasSeen = this.#seen.delete(name);
    this.#seen.add(name);
    const [oldest] = this.#seen;
    if (this.#seen.size > MAX_SEEN && oldest !== undefined) this.#seen.delete(oldest);
    return wasSeen;
  }

  /** The worker that has most of the document; undefined when none has any of it. */
  find(document: DocumentHashes): KeptShare | undefined {
    let best: KeptShare | undefined;
    for (const [worker, documents] of this.#workers.entries()) {
      const part = documents.findPart(document);
      if (part > (best?.part ?? 0)) best = { worker, part };
    }
    return best;
  }

  /** What one worker has of it. @returns 0 to 1 */
  partOn(worker: number, document: DocumentHashes): number {
    return this.#workers[worker]?.findPart(document) ?? 0;
  }

  /** A worker has the document, or will soon; what it used least recently makes room. */
  put(worker: number, document: DocumentHashes, bytes: number): void {
    this.#workers[worker]?.put(document, bytes, this.#cacheBytes);
  }

  /** A worker turned out not to have it. */
  remove(worker: number, document: DocumentHashes): void {
    this.#workers[worker]?.remove(document);
  }

  /** A worker was replaced, and its replacement knows nothing. */
  forget(worker: number): void {
    this.#workers = this.#workers.map((documents, at) => (at === worker ? new WorkerDocuments() : documents));
  }
}

/** Each hash holds the one before, so that equal hashes mean equal begins. */
export function hashDocument(modelId: string, text: string): DocumentHashes {
  const chain: string[] = [];
  let name = modelId;
  for (let start = 0; start < text.length || chain.length === 0; start += BLOCK_CHARACTERS) {
    name = hash('sha1', `${name} ${text.slice(start, start + BLOCK_CHARACTERS)}`, 'base64');
    chain.push(name);
  }
  return { chain, characters: text.length };
}

function nameOf(chain: readonly string[]): string {
  return chain.at(-1) ?? '';
}
