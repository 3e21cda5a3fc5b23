// Names of windows: two windows have the same key only if `encode` gives them the same keys and values. Pure.

import { createHash } from 'node:crypto';
import type { Window } from './split-graphs.ts';

/** SHA-256, as base64url, of everything a window's keys and values depend on. */
export function keyOfWindow({ ids, segment, index }: Window, modelId: string): string {
  const numbers = Int32Array.of(segment, index, ids.length);
  return createHash('sha256').update(numbers).update(ids).update(modelId).digest('base64url');
}
