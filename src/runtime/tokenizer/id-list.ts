// Ids of a text while it is read, and how many of them are wanted.

export class IdList {
  readonly #limit: number;
  #ids = new Int32Array(256);
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether more need not be known. */
  get isOver(): boolean {
    return this.#length > this.#limit;
  }

  /** More ids than these are not wanted. */
  get room(): number {
    return Math.max(0, this.#limit - this.#length);
  }

  push(id: number): void {
    if (this.#length === this.#ids.length) {
      const longer = new Int32Array(2 * this.#length);
      longer.set(this.#ids);
      this.#ids = longer;
    }
    this.#ids[this.#length] = id;
    this.#length += 1;
  }

  pushAll(ids: Int32Array): void {
    for (const id of ids) this.push(id);
  }

  /** Ids from a place on. */
  since(place: number): Int32Array {
    return this.#ids.slice(place, this.#length);
  }

  get length(): number {
    return this.#length;
  }
}
