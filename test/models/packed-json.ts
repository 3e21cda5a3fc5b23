// Fixtures that lie packed.

import { type PathLike, readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** @param path ends with `.gz`, or with `.br` */
export function readPackedJson(path: PathLike): unknown {
  return JSON.parse(readPacked(path).toString());
}

export function readPacked(path: PathLike): Buffer {
  const packed = readFileSync(path);
  return String(path).endsWith('.br') ? brotliDecompressSync(packed) : gunzipSync(packed);
}
