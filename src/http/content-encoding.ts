// The encodings a body may come in, and what undoes each as the bytes arrive. How much may come out, the reader decides.

import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib';
import { AppError } from '../domain/errors.ts';

/** As `Accept-Encoding` lists them. */
export const BODY_ENCODINGS = 'gzip, br, zstd, deflate';
const PIECE_BYTES = 64 * 1024;
const OPTIONS = { chunkSize: PIECE_BYTES };

/** Makes the decoder for a body that begins with this byte. */
export type DecoderFactory = (firstByte: number) => Transform;

const DECODERS: Readonly<Record<string, DecoderFactory>> = {
  gzip: () => createGunzip(OPTIONS),
  'x-gzip': () => createGunzip(OPTIONS),
  br: () => createBrotliDecompress(OPTIONS),
  zstd: () => createZstdDecompress(OPTIONS),
  // Named after the bare format, meant is the one with a head; some clients send the former. The head begins with 8.
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate(OPTIONS) : createInflateRaw(OPTIONS)),
};

/** @returns undefined when the body comes as it is @throws AppError `invalid_request` */
export function findDecoder(header: string | undefined): DecoderFactory | undefined {
  const name = header?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return undefined;
  const factory = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (factory !== undefined) return factory;
  throw new AppError('invalid_request', `The Content-Encoding must be one of ${BODY_ENCODINGS}, or none.`, {
    param: 'Content-Encoding',
  });
}

export function badlyEncoded(): AppError {
  return new AppError('invalid_request', 'The body is not what its Content-Encoding says.', {
    param: 'Content-Encoding',
  });
}
