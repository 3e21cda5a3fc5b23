// The form of the files of a learned model: a magic word, a header as JSON, numbers as little-endian arrays, and SHA-256 of
// all that. Nothing of it is taken before the sum agrees.

import { hash } from 'node:crypto';
import { parsePlainJson } from '../domain/json.ts';

/** A file of a learned model that is broken, or of another form. */
export class LearnedFileError extends Error {
  override readonly name = 'LearnedFileError';
}

const MAGIC_BYTES = 8;
const SUM_BYTES = 32;
const LENGTH_BYTES = 4;

type Numbers = Float32Array | Float64Array;

/** @param magic 8 ASCII characters @param header JSON that has no NaN @param arrays what the header tells the lengths of */
export function sealBytes(magic: string, header: unknown, arrays: readonly Numbers[]): Buffer {
  const head = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(head.length);
  const body = Buffer.concat([Buffer.from(magic, 'latin1'), length, head, ...arrays.map(toLittleEndian)]);
  return Buffer.concat([body, hash('sha256', body, 'buffer')]);
}

export interface OpenedBytes {
  readonly header: unknown;
  readonly arrays: ArrayTaker;
}

/** @throws LearnedFileError when the bytes are of another form or not those that were written */
export function unsealBytes(magic: string, bytes: Buffer): OpenedBytes {
  const end = bytes.length - SUM_BYTES;
  const start = MAGIC_BYTES + LENGTH_BYTES;
  if (end < start || bytes.toString('latin1', 0, MAGIC_BYTES) !== magic) {
    throw new LearnedFileError(`It does not begin with ${magic}: it is another file, or of another version.`);
  }
  const body = bytes.subarray(0, end);
  if (!hash('sha256', body, 'buffer').equals(bytes.subarray(end))) {
    throw new LearnedFileError('Its checksum does not agree with its content: it is damaged.');
  }
  const headerEnd = start + body.readUInt32LE(MAGIC_BYTES);
  if (headerEnd > body.length) throw new LearnedFileError('Its header is longer than the file.');
  return { header: parseHeader(body.toString('utf8', start, headerEnd)), arrays: new ArrayTaker(body, headerEnd) };
}

function parseHeader(text: string): unknown {
  try {
    return parsePlainJson(text);
  } catch {
    throw new LearnedFileError('Its header is not JSON.');
  }
}

/** Takes arrays off the body, in the order in which they were written. */
export class ArrayTaker {
  readonly #body: Buffer;
  #at: number;

  constructor(body: Buffer, at: number) {
    this.#body = body;
    this.#at = at;
  }

  /** @throws LearnedFileError when the file ends before, or a number is not finite and may not be NaN */
  takeFloat32(length: number): Float32Array {
    const from = this.#take(length, Float32Array.BYTES_PER_ELEMENT);
    const values = new Float32Array(length);
    for (let i = 0; i < length; i++) values[i] = this.#body.readFloatLE(from + 4 * i);
    return values;
  }

  takeFloat64(length: number): Float64Array {
    const from = this.#take(length, Float64Array.BYTES_PER_ELEMENT);
    const values = new Float64Array(length);
    for (let i = 0; i < length; i++) values[i] = this.#body.readDoubleLE(from + 8 * i);
    return values;
  }

  /** @throws LearnedFileError when anything is left */
  end(): void {
    if (this.#at !== this.#body.length) throw new LearnedFileError('It holds more than its header tells of.');
  }

  #take(length: number, bytesEach: number): number {
    const from = this.#at;
    this.#at += length * bytesEach;
    if (this.#at > this.#body.length) throw new LearnedFileError('It ends before what its header tells of.');
    return from;
  }
}

function toLittleEndian(values: Numbers): Buffer {
  const bytes = Buffer.alloc(values.byteLength);
  const each = values.BYTES_PER_ELEMENT;
  for (const [i, value] of values.entries()) {
    if (each === 4) bytes.writeFloatLE(value, 4 * i);
    else bytes.writeDoubleLE(value, 8 * i);
  }
  return bytes;
}
