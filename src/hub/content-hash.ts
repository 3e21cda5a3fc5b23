// The sums of a file while its bytes pass by: SHA-256 for us, and the sum that the repository names where that is git's.

import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHash } from './model-files.ts';

const CHUNK_BYTES = 1024 * 1024;

export class ContentHash {
  readonly #sha256 = createHash('sha256');
  readonly #git: Hash | undefined;
  readonly #expected: FileHash | undefined;
  #bytes = 0;

  /** @param sizeBytes of the whole file: git's sum begins with it */
  constructor(expected: FileHash | undefined, sizeBytes: number) {
    this.#expected = expected;
    if (expected?.algorithm === 'git-sha1') this.#git = createHash('sha1').update(`blob ${sizeBytes}\0`);
  }

  /** Hashed so far. */
  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Uint8Array): void {
    this.#sha256.update(chunk);
    this.#git?.update(chunk);
    this.#bytes += chunk.byteLength;
  }

  /** Called once, at the end. @returns the SHA-256, and whether the bytes are those that were expected */
  finish(): { readonly sha256: string; readonly isExpected: boolean } {
    const sha256 = this.#sha256.digest('hex');
    const found = this.#git?.digest('hex') ?? sha256;
    return { sha256, isExpected: this.#expected === undefined || this.#expected.hex === found };
  }
}

/** The content of a file, chunk by chunk. A chunk holds until the next one is asked for. */
export async function* readChunks(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
