// Writes in the order of the rows what comes in any order. Only what comes too early is held.

export class OrderedWriter {
  readonly #write: (text: string) => Promise<void>;
  readonly #early = new Map<number, string>();
  #next = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  /** Places that wait for one before them. */
  get held(): number {
    return this.#early.size;
  }

  /** Every place comes once, from 0; with an empty text if there is nothing to write. @throws what writing throws */
  async put(place: number, text: string): Promise<void> {
    this.#early.set(place, text);
    let ready = '';
    for (; this.#early.has(this.#next); this.#next++) {
      ready += this.#early.get(this.#next) ?? '';
      this.#early.delete(this.#next);
    }
    if (ready !== '') this.#last = this.#last.then(() => this.#write(ready));
    await this.#last;
  }
}
