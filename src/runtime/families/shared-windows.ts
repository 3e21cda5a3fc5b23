// Keys and values of some windows of a document in memory that all workers see, so that workers can share the work on
// one decision. Written once by one worker, then only read.

import type { EncodedShare, WindowKey } from '../messages.ts';
import type { KeyValueShape, KeyValues } from './key-values.ts';

const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/**
 * Copies windows one after the other.
 * @param windowKeys of each window, in the order they come
 * @param memory used if it is large enough; nobody may be reading it
 */
export async function writeShare(
  windows: AsyncIterable<KeyValues>,
  windowKeys: readonly WindowKey[],
  { shape, memory }: { readonly shape: KeyValueShape; readonly memory: SharedArrayBuffer | undefined },
): Promise<EncodedShare> {
  const bytes = windowKeys.reduce((sum, { tokens }) => sum + tokens, 0) * floatsPerToken(shape) * FLOAT_BYTES;
  const target = memory !== undefined && memory.byteLength >= bytes ? memory : new SharedArrayBuffer(bytes);
  const floats = new Float32Array(target);
  let offset = 0;
  for await (const { parts } of windows) {
    for (const part of parts) {
      floats.set(part, offset);
      offset += part.length;
    }
  }
  return { windows: windowKeys, memory: target };
}

/** Windows of all shares in their order, as views of the shared memory. */
export async function* readShares(shares: readonly EncodedShare[], shape: KeyValueShape): AsyncGenerator<KeyValues> {
  for (const { windows, memory } of shares) {
    let offset = 0;
    for (const { tokens } of windows) {
      const length = tokens * shape.heads * shape.headSize;
      const starts = Array.from({ length: 2 * shape.layers }, (_, part) => offset + part * length);
      yield {
        tokens,
        parts: starts.map((start) => new Float32Array(memory, start * FLOAT_BYTES, length)),
        borrowed: true,
      };
      offset += 2 * shape.layers * length;
    }
  }
}

function floatsPerToken({ layers, heads, headSize }: KeyValueShape): number {
  return 2 * layers * heads * headSize;
}
