// The body of a request on its way out. A large one goes in pieces and is let go soon after the last of them, because the
// HTTP client keeps what it was handed until the answer has ended.

import { Readable } from 'node:stream';

/** So much or less is handed over whole. */
const SMALL_BYTES = 64 * 1024;
const PIECE_BYTES = 64 * 1024;
/** How long a body that is out is kept: an upstream that closed the connection before says so within a round trip. */
const KEPT_MS = 500;

export class Payload {
  readonly byteLength: number;
  readonly #onLetGo: () => void;
  #bytes: Buffer | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param onLetGo called once, when the body can be sent no more */
  constructor(text: string, onLetGo: () => void = () => undefined) {
    this.#bytes = Buffer.from(text);
    this.byteLength = this.#bytes.length;
    this.#onLetGo = onLetGo;
  }

  /** Whether it can be sent, once more if it was. */
  get isThere(): boolean {
    return this.#bytes !== undefined;
  }

  /** For one attempt to send it. */
  body(): Buffer | Readable {
    clearTimeout(this.#timer);
    const bytes = this.#bytes ?? Buffer.alloc(0);
    return bytes.length <= SMALL_BYTES ? bytes : Readable.from(this.#pieces(), { objectMode: false });
  }

  /** May be called twice. */
  letGo(): void {
    clearTimeout(this.#timer);
    if (this.#bytes === undefined) return;
    this.#bytes = undefined;
    this.#onLetGo();
  }

  async *#pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = 0; at < this.byteLength; at += PIECE_BYTES) {
      if (this.#bytes === undefined) return;
      yield this.#bytes.subarray(at, at + PIECE_BYTES);
    }
    this.#timer = setTimeout(() => this.letGo(), KEPT_MS);
  }
}
