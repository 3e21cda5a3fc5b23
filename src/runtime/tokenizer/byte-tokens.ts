// Tokens that stand for one byte each, for characters that have no token.

export class ByteTokens {
  /** By byte: −1 where it has no token. */
  readonly #ids: Int32Array;
  /** Whether every byte has one. */
  readonly isWhole: boolean;

  /** @param idOf the id of a token: they are called `<0x00>` to `<0xFF>` */
  constructor(idOf: (token: string) => number | undefined) {
    const nameOf = (byte: number) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
    this.#ids = Int32Array.from({ length: 256 }, (_, byte) => idOf(nameOf(byte)) ?? -1);
    this.isWhole = !this.#ids.includes(-1);
  }

  /** Ids of a text byte by byte. @returns undefined when one of its bytes has none */
  read(text: string): Int32Array | undefined {
    const ids = Int32Array.from(Buffer.from(text), (byte) => this.#ids[byte] ?? -1);
    return ids.includes(-1) ? undefined : ids;
  }
}
