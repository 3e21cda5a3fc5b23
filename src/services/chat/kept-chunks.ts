// The chunks of a stream that are kept for a retry: all of them, or none where there are too many.

import type { ChatChunk } from '../../domain/chat.ts';

/** In UTF-16 code units: a stream without end must not fill the memory. */
const MAX_LENGTH = 64 * 1024 * 1024;

export class KeptChunks {
  readonly #chunks: ChatChunk[] = [];
  #length = 0;

  add(chunk: ChatChunk): void {
    if (this.#length > MAX_LENGTH) return;
    this.#length += chunk.json.length;
    this.#chunks.push(chunk);
  }

  /** null: they are too many. */
  get all(): readonly ChatChunk[] | null {
    return this.#length > MAX_LENGTH ? null : this.#chunks;
  }
}
