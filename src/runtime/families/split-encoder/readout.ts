// From piece vectors to option vectors. Pure.

import type { Chunk } from './prompt.ts';

/** Means of pieces, weighted by their tokens, gathered chunk by chunk into one vector per option. */
export class OptionPool {
  readonly #options: number;
  readonly #tokens: Float64Array;
  #sums = new Float64Array();

  constructor(options: number) {
    this.#options = options;
    this.#tokens = new Float64Array(options);
  }

  /** @param pieceVectors `[pieces, hidden]` of one chunk */
  add(chunk: Chunk, pieceVectors: Float32Array): void {
    const hidden = pieceVectors.length / chunk.options.length;
    if (this.#sums.length === 0) this.#sums = new Float64Array(this.#options * hidden);
    for (const [piece, option] of chunk.options.entries()) {
      const weight = chunk.lengths[piece] ?? 0;
      this.#tokens[option] = (this.#tokens[option] ?? 0) + weight;
      for (let i = 0; i < hidden; i++) {
        const at = option * hidden + i;
        this.#sums[at] = (this.#sums[at] ?? 0) + weight * (pieceVectors[piece * hidden + i] ?? 0);
      }
    }
  }

  /** @returns `[options, hidden]` */
  vectors(): Float32Array {
    const hidden = this.#sums.length / this.#options;
    const vectors = new Float32Array(this.#sums.length);
    for (let option = 0; option < this.#options; option++) {
      const tokens = this.#tokens[option] ?? 1;
      for (let at = option * hidden; at < (option + 1) * hidden; at++) vectors[at] = (this.#sums[at] ?? 0) / tokens;
    }
    return vectors;
  }
}
