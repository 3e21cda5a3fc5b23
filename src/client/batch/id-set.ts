// A set of ids that takes little memory, so that files of millions of rows can be checked and resumed: of each id 16 bytes of
// its SHA-256, in one array. That two ids have the same is less likely than a fault of the machine.

import { hash } from 'node:crypto';

const WORDS = 4;
const FIRST_PLACES = 1024;
/** At most so many places of all are taken. */
const FULLEST = 0.6;

export class IdSet {
  #words = new Uint32Array(FIRST_PLACES * WORDS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(id: string): boolean {
    const digest = digestOf(id);
    return this.#isTaken(this.#find(digest));
  }

  /** @returns false: it was there */
  add(id: string): boolean {
    if (this.#size + 1 > (this.#words.length / WORDS) * FULLEST) this.#grow();
    const digest = digestOf(id);
    const at = this.#find(digest);
    if (this.#isTaken(at)) return false;
    this.#words.set(digest, at);
    this.#size++;
    return true;
  }

  /** Where it is, or would be. */
  #find(digest: Uint32Array): number {
    const words = this.#words;
    let at = ((digest[0] ?? 0) % (words.length / WORDS)) * WORDS;
    while (this.#isTaken(at) && digest.some((word, offset) => words[at + offset] !== word)) {
      at = (at + WORDS) % words.length;
    }
    return at;
  }

  #isTaken(at: number): boolean {
    return this.#words[at + WORDS - 1] !== 0;
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(old.length * 2);
    for (let from = 0; from < old.length; from += WORDS) {
      if (old[from + WORDS - 1] === 0) continue;
      const digest = old.subarray(from, from + WORDS);
      this.#words.set(digest, this.#find(digest));
    }
  }
}

/** Its last word is never 0, which stands for a free place. */
function digestOf(id: string): Uint32Array {
  const bytes = hash('sha256', id, 'buffer');
  const digest = Uint32Array.from({ length: WORDS }, (_, word) => bytes.readUInt32LE(word * 4));
  digest[WORDS - 1] ||= 1;
  return digest;
}
