// Bytes of UTF-8 in pieces, cut anywhere, to one text. What is no UTF-8 is refused rather than replaced, for it would be
// judged as text; a byte order mark is dropped.

import { isUtf8 } from 'node:buffer';

const BYTE_ORDER_MARK = '\ufeff';

export class NotUtf8Error extends Error {
  override readonly name = 'NotUtf8Error';
}

export class Utf8Text {
  #parts: string[] = [];
  /** The begin of a character whose end has not come. */
  #rest: Buffer = Buffer.alloc(0);

  /** @throws NotUtf8Error */
  add(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = bytes.length - unfinishedLength(bytes);
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) throw new NotUtf8Error();
    // A copy: the piece itself may be large.
    this.#rest = Buffer.from(bytes.subarray(end));
    const text = whole.toString();
    if (text !== '') this.#parts.push(text);
  }

  /** @throws NotUtf8Error when it ends within a character */
  end(): string {
    if (this.#rest.length > 0) throw new NotUtf8Error();
    const parts = this.#parts;
    this.#parts = [];
    const text = parts.length === 1 ? (parts[0] ?? '') : parts.join('');
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  }
}

/** How many bytes at the end begin a character that is longer than what is there. */
function unfinishedLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return characterLength(byte) > back ? back : 0;
  }
  return 0;
}

function characterLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
