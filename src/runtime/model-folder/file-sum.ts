// SHA-256 of a file, read through one small buffer: files of models are large, and a start must not leave their size
// behind as garbage.

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

const BUFFER_BYTES = 256 * 1024;

/** @returns lower-case hex @throws the file system's error */
export async function sumOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  const file = await open(path, 'r');
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, BUFFER_BYTES);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
