// The body of a request on its way out. A large one goes in pieces and is let go soon after the last of them, because the
// HTTP client keeps what it was handed until the answer has ended.

import { Readable } from 'node:stream';

/** So much or less is handed over whole. */
const SMALL_BYTES = 64 * 1024;
/** UTF-16 code units. */
const PIECE_LENGTH = 64 * 1024;
/** How long a body that is out is kept: an upstream that closed the connection before says so within a round trip. */
const KEPT_MS = 500;

export class Payload {
  readonly byteLength: number;
  readonly #onLetGo: () => void;
  #text: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param onLetGo called once, when the body can be sent no more */
  constructor(text: string, onLetGo: () => void = () => undefined) {
    this.#text = text;
    this.byteLength = Buffer.byteLength(text);
    this.#onLetGo = onLetGo;
  }

  /** Whether it can be sent, once more if it was. */
  get isThere(): boolean {
    return this.#text !== undefined;
  }

  /** For one attempt to send it. */
  body(): Buffer | Readable {
    clearTimeout(this.#timer);
    if (this.byteLength <= SMALL_BYTES) return Buffer.from(this.#text ?? '');
    return Readable.from(this.#pieces(), { objectMode: false });
  }

  /** May be called twice. */
  letGo(): void {
    clearTimeout(this.#timer);
    if (this.#text === undefined) return;
    this.#text = undefined;
    this.#onLetGo();
  }

  /** Encoded as they go out, not all at once. */
  async *#pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let at = 0; this.#text !== undefined && at < this.#text.length; ) {
      const end = endOfPiece(this.#text, at);
      yield Buffer.from(this.#text.slice(at, end));
      at = end;
    }
    this.#timer = setTimeout(() => this.letGo(), KEPT_MS);
  }
}

/** Never between the halves of a character. */
function endOfPiece(text: string, at: number): number {
  const end = Math.min(text.length, at + PIECE_LENGTH);
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
}
