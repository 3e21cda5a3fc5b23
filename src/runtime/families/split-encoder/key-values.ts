// How keys and values lie in memory. The one place that knows the layout `encode` writes and `answer` reads; whose memory
// it is, others say.

/** Views of someone's memory. */
export interface KeyValues {
  readonly tokens: number;
  /** `[2 · layers]`: per layer keys, then values, each `[1, heads, tokens, head_size]`. */
  readonly parts: readonly Float32Array[];
}

interface KeyValueShape {
  readonly layers: number;
  readonly heads: number;
  readonly headSize: number;
}

/** Which tokens are copied. */
interface TokenSpan {
  readonly tokens: number;
  /** First token in the source. */
  readonly from: number;
  /** First token in the target. */
  readonly to: number;
}

export class KeyValueLayout {
  readonly #shape: KeyValueShape;

  constructor(shape: KeyValueShape) {
    this.#shape = shape;
  }

  /** Floats of memory that so many tokens take. */
  floats(tokens: number): number {
    const { layers, heads, headSize } = this.#shape;
    return 2 * layers * heads * headSize * tokens;
  }

  /** @param memory at least `floats(tokens)` long */
  view(memory: Float32Array, tokens: number): KeyValues {
    const { layers, heads, headSize } = this.#shape;
    const size = heads * headSize * tokens;
    const parts = Array.from({ length: 2 * layers }, (_, part) => memory.subarray(part * size, (part + 1) * size));
    return { tokens, parts };
  }

  copy(source: KeyValues, target: KeyValues, { tokens, from, to }: TokenSpan): void {
    const { heads, headSize } = this.#shape;
    for (const [index, part] of source.parts.entries()) {
      const written = target.parts[index];
      if (written === undefined) throw new Error('keys and values of another shape');
      for (let head = 0; head < heads; head++) {
        const start = (head * source.tokens + from) * headSize;
        written.set(part.subarray(start, start + tokens * headSize), (head * target.tokens + to) * headSize);
      }
    }
  }

  /**
   * The document's vector: the mean over its tokens of the last layer's values, a linear image of the finished state. Summed in
   * the order of the tokens, in double precision: however the document was read, the vector has the same bits.
   * @param keyValues of all of it; earlier layers may be left out @returns `[heads · head_size]`
   */
  vectorOf({ parts, tokens }: KeyValues): Float32Array {
    const { heads, headSize } = this.#shape;
    const values = parts.at(-1) ?? new Float32Array();
    const vector = new Float32Array(heads * headSize);
    for (let place = 0; place < vector.length; place++) {
      const head = Math.floor(place / headSize);
      const end = (head + 1) * headSize * tokens;
      let sum = 0;
      for (let at = head * headSize * tokens + (place % headSize); at < end; at += headSize) sum += values[at] ?? 0;
      vector[place] = sum / tokens;
    }
    return vector;
  }

  /** One after the other, from the first token on. */
  join(parts: readonly KeyValues[], target: KeyValues): void {
    let to = 0;
    for (const part of parts) {
      this.copy(part, target, { tokens: part.tokens, from: 0, to });
      to += part.tokens;
    }
  }
}

/** Frees at once: left to the collector, tens of megabytes a document would pile up. The arrays are empty then. */
export function freeArrays(arrays: readonly Float32Array[]): void {
  for (const { buffer } of arrays) if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
