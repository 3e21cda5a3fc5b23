// Keys and values of a document, all windows side by side in the layout `answer` takes. Owns the memory: buffers are
// reused from document to document, and given back at once after a giant one.

/** Per layer keys, then values, each `[1, heads, tokens, head_size]`. */
export interface KeyValues {
  readonly tokens: number;
  /** `[2 · layers]` */
  readonly parts: readonly Float32Array[];
  /** Memory of someone else: to be read, not freed. */
  readonly borrowed: boolean;
}

export interface KeyValueShape {
  readonly layers: number;
  readonly heads: number;
  readonly headSize: number;
}

export class KeyValueBuffers {
  private readonly shape: KeyValueShape;
  private readonly keptTokens: number;
  private buffers: Float32Array[] = [];
  private capacityTokens = 0;
  private adopted: KeyValues | undefined;

  /** @param keptTokens buffers for more tokens than this are freed by `release` */
  constructor(shape: KeyValueShape, keptTokens: number) {
    this.shape = shape;
    this.keptTokens = keptTokens;
  }

  /**
   * All windows joined along the tokens; valid until `release`. Takes over every window that is not borrowed.
   * @param windows asked for one after the other, so that they need not exist at once
   */
  async join(totalTokens: number, windows: AsyncIterable<KeyValues>): Promise<KeyValues> {
    let offset = 0;
    for await (const window of windows) {
      // One window is the whole document: nothing to copy, unless other workers see it, which the library refuses.
      if (window.tokens === totalTokens && !isShared(window)) return this.adopt(window);
      this.reserve(totalTokens);
      this.copy(window, offset, totalTokens);
      offset += window.tokens;
      if (!window.borrowed) free(window.parts);
    }
    const size = this.shape.heads * totalTokens * this.shape.headSize;
    return { tokens: totalTokens, parts: this.buffers.map((buffer) => buffer.subarray(0, size)), borrowed: true };
  }

  /** To be called when the joined keys and values are no longer needed. */
  release(): void {
    if (this.adopted !== undefined) free(this.adopted.parts);
    this.adopted = undefined;
    if (this.capacityTokens > this.keptTokens) this.discard();
  }

  private adopt(window: KeyValues): KeyValues {
    if (!window.borrowed) this.adopted = window;
    return { ...window, borrowed: true };
  }

  private reserve(tokens: number): void {
    if (tokens <= this.capacityTokens) return;
    this.discard();
    const { layers, heads, headSize } = this.shape;
    this.capacityTokens = Math.max(tokens, Math.min(2 * tokens, this.keptTokens));
    this.buffers = Array.from({ length: 2 * layers }, () => new Float32Array(heads * this.capacityTokens * headSize));
  }

  private discard(): void {
    free(this.buffers);
    this.buffers = [];
    this.capacityTokens = 0;
  }

  private copy(window: KeyValues, offset: number, totalTokens: number): void {
    const { heads, headSize } = this.shape;
    const row = window.tokens * headSize;
    for (const [index, part] of window.parts.entries()) {
      for (let head = 0; head < heads; head++) {
        const to = (head * totalTokens + offset) * headSize;
        this.buffers[index]?.set(part.subarray(head * row, (head + 1) * row), to);
      }
    }
  }
}

function isShared({ parts }: KeyValues): boolean {
  return parts[0]?.buffer instanceof SharedArrayBuffer;
}

/** Frees at once: left to the collector, tens of megabytes a document would pile up. The arrays are empty then. */
function free(arrays: readonly Float32Array[]): void {
  for (const { buffer } of arrays) if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
