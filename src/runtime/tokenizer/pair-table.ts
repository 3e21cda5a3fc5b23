// A number by two numbers, in flat memory: what a trie of a quarter of a million tokens and half a million merges need.

const EMPTY = -1;

export class PairTable {
  #firsts: Int32Array;
  #seconds: Int32Array;
  #values: Int32Array;
  #size = 0;

  /** @param expected pairs */
  constructor(expected: number) {
    let slots = 16;
    while (slots < expected * 1.5) slots *= 2;
    this.#firsts = new Int32Array(slots).fill(EMPTY);
    this.#seconds = new Int32Array(slots);
    this.#values = new Int32Array(slots);
  }

  /** @returns −1 when there is none */
  get(first: number, second: number): number {
    const slot = this.#find(first, second);
    return this.#firsts[slot] === EMPTY ? -1 : (this.#values[slot] ?? -1);
  }

  /** All three from 0 on. */
  set(first: number, second: number, value: number): void {
    const slot = this.#find(first, second);
    if (this.#firsts[slot] === EMPTY) this.#size += 1;
    this.#firsts[slot] = first;
    this.#seconds[slot] = second;
    this.#values[slot] = value;
    if (this.#size * 1.4 > this.#firsts.length) this.#grow();
  }

  /** The slot of the pair, or the empty one where it would be. */
  #find(first: number, second: number): number {
    const mask = this.#firsts.length - 1;
    let hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77);
    hash ^= hash >>> 15;
    let slot = hash & mask;
    while (this.#firsts[slot] !== EMPTY && (this.#firsts[slot] !== first || this.#seconds[slot] !== second)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [firsts, seconds, values] = [this.#firsts, this.#seconds, this.#values];
    this.#firsts = new Int32Array(2 * firsts.length).fill(EMPTY);
    this.#seconds = new Int32Array(2 * firsts.length);
    this.#values = new Int32Array(2 * firsts.length);
    this.#size = 0;
    for (const [slot, first] of firsts.entries()) {
      if (first !== EMPTY) this.set(first, seconds[slot] ?? 0, values[slot] ?? 0);
    }
  }
}
