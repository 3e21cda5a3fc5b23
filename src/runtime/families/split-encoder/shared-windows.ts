// Keys and values of some windows of a document in memory that all workers see, so that workers can share the work on
// one decision. Window after window, each by itself. Written once by one worker, then only read.

import type { EncodedShare, WindowKey } from '../../messages.ts';
import type { KeyValueLayout, KeyValues } from './key-values.ts';
import { countTokens } from './windows.ts';

/** @param memory used if it is large enough; nobody may be reading it */
export function openShare(
  windows: readonly WindowKey[],
  layout: KeyValueLayout,
  memory: SharedArrayBuffer | undefined,
): EncodedShare {
  const bytes = layout.floats(countTokens(windows)) * Float32Array.BYTES_PER_ELEMENT;
  const isEnough = memory !== undefined && memory.byteLength >= bytes;
  return { windows, memory: isEnough ? memory : new SharedArrayBuffer(bytes) };
}

/** Each window of the share, as a view of its memory. */
export function viewShare({ windows, memory }: EncodedShare, layout: KeyValueLayout): KeyValues[] {
  const floats = new Float32Array(memory);
  let start = 0;
  return windows.map(({ tokens }) => {
    const from = start;
    start += layout.floats(tokens);
    return layout.view(floats.subarray(from, start), tokens);
  });
}
