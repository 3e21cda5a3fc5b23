// Counts the values and levels of a JSON text while it arrives, before anything is built of it: a few bytes for each value could
// otherwise become a thousand times as many in memory. Judges nothing: what is no JSON, the parser refuses.

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

export class ValueCount {
  #isInString = false;
  #isEscaped = false;
  #containers = 0;
  #commas = 0;
  #depth = 0;
  #deepest = 0;

  /** Exact but for empty objects and arrays, which count twice. */
  get values(): number {
    return 1 + this.#containers + this.#commas;
  }

  get containers(): number {
    return this.#containers;
  }

  /** Levels of nesting at the deepest place so far. */
  get deepest(): number {
    return this.#deepest;
  }

  /** In UTF-8 no byte of a longer character looks like one of these. */
  add(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) at = this.#isInString ? this.#skipString(bytes, at) : this.#countOutside(bytes, at);
  }

  /** @returns index after the quote that begins a string, or the end */
  #countOutside(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === COMMA) this.#commas += 1;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open();
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth -= 1;
      else if (byte === QUOTE) {
        this.#isInString = true;
        return at + 1;
      }
    }
    return at;
  }

  #open(): void {
    this.#containers += 1;
    this.#depth += 1;
    if (this.#depth > this.#deepest) this.#deepest = this.#depth;
  }

  /** @returns index after the quote that ends the string, or the end */
  #skipString(bytes: Uint8Array, from: number): number {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) {
        this.#isInString = false;
        return at + 1;
      }
    }
    // An escape that is cut in two: its second half begins the next piece.
    this.#isEscaped = at > bytes.length;
    return at;
  }
}
