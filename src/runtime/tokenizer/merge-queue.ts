// Merges that wait their turn: a binary heap in flat memory.

/** Places of a piece below this, ranks below 2^25. */
const PLACES = 2 ** 28;

export class MergeQueue {
  /** rank × PLACES + place */
  #keys = new Float64Array(256);
  #size = 0;
  /** What `take` took. */
  rank = 0;
  place = 0;

  put(rank: number, place: number): void {
    if (this.#size === this.#keys.length) {
      const longer = new Float64Array(2 * this.#size);
      longer.set(this.#keys);
      this.#keys = longer;
    }
    const [keys, key] = [this.#keys, rank * PLACES + place];
    let at = this.#size;
    this.#size += 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = keys[parent] ?? 0;
      if (above <= key) break;
      keys[at] = above;
      at = parent;
    }
    keys[at] = key;
  }

  /** The least rank, of equal ones the least place. @returns false when nothing waits */
  take(): boolean {
    if (this.#size === 0) return false;
    const keys = this.#keys;
    const least = keys[0] ?? 0;
    this.#size -= 1;
    this.#sink(keys[this.#size] ?? 0);
    this.rank = Math.floor(least / PLACES);
    this.place = least - this.rank * PLACES;
    return true;
  }

  #sink(key: number): void {
    const [keys, size] = [this.#keys, this.#size];
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && (keys[child + 1] ?? 0) < (keys[child] ?? 0)) child += 1;
      if ((keys[child] ?? 0) >= key) break;
      keys[at] = keys[child] ?? 0;
      at = child;
    }
    keys[at] = key;
  }
}
