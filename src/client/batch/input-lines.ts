// The lines of a file of rows, one after the other: packed or not, UTF-8 or told, none longer than memory should bear.

import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

export interface InputLine {
  /** From 1, as editors count. */
  readonly number: number;
  /** Without its line feed; a carriage return before it is still there. */
  readonly text: string;
}

/** What is wrong with a place of the input. */
export class InputFault extends Error {
  override readonly name = 'InputFault';
  readonly line: number;

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
    this.line = line;
  }
}

/** Far more than any server takes. */
export const LONGEST_ROW_BYTES = 16 * 1024 * 1024;
const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = '\ufeff';
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bytes of a file, unpacked if it is named `.gz`. Its reading fails when they are read. */
export function openBytes(path: string): AsyncIterable<Uint8Array> {
  const file = createReadStream(path);
  // What fails is thrown where the bytes are read.
  return path.endsWith('.gz') ? pipeline(file, createGunzip(), () => undefined) : file;
}

/** @throws InputFault, and what the bytes throw */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<InputLine> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      yield { number, text: decode([...parts, chunk.subarray(start, end)], number) };
      [parts, length, start] = [[], 0, end + 1];
      number++;
    }
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > LONGEST_ROW_BYTES) throw new InputFault(number, 'it is longer than 16 MiB.');
  }
  if (length > 0) yield { number, text: decode(parts, number) };
}

function decode(parts: readonly Uint8Array[], number: number): string {
  const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  try {
    const text = decoder.decode(bytes);
    return number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  } catch {
    throw new InputFault(number, 'it is not valid UTF-8.');
  }
}
