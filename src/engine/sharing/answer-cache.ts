// What is kept of answers: the least recently used goes first when the room is full, and everything after its time. Pure:
// the time is handed in, and what a value is or weighs its owner knows.

/** Key, map and list entries of one value, measured on a full cache. */
const ENTRY_BYTES = 400;

export interface AnswerCacheOptions {
  readonly maxBytes: number;
  readonly ttlMs: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  readonly untilMs: number;
}

export class AnswerCache<Value> {
  readonly #options: AnswerCacheOptions;
  /** In the order of use, the latest last. */
  readonly #entries = new Map<string, Entry<Value>>();
  /** The same keys in the order of their end, which is that of their coming: all are kept for the same time. */
  readonly #ends = new Map<string, number>();
  #bytes = 0;

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
  }

  /** What is kept at this moment. */
  bytes(nowMs: number): number {
    this.#dropOver(nowMs);
    return this.#bytes;
  }

  find(key: string, nowMs: number): Value | undefined {
    this.#dropOver(nowMs);
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** @param valueBytes of the value alone; one that is larger than the whole cache is not kept */
  keep(key: string, { value, valueBytes, nowMs }: { value: Value; valueBytes: number; nowMs: number }): void {
    const bytes = valueBytes + ENTRY_BYTES;
    this.#dropOver(nowMs);
    this.#drop(key);
    if (bytes > this.#options.maxBytes) return;
    const untilMs = nowMs + this.#options.ttlMs;
    this.#entries.set(key, { value, bytes, untilMs });
    this.#ends.set(key, untilMs);
    this.#bytes += bytes;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#options.maxBytes) return;
      this.#drop(oldest);
    }
  }

  #dropOver(nowMs: number): void {
    for (const [key, untilMs] of this.#ends) {
      if (untilMs > nowMs) return;
      this.#drop(key);
    }
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#ends.delete(key);
    this.#bytes -= entry.bytes;
  }
}
