// Names of windows and documents: two windows have the same key only if `encode` gives them the same keys and values. Pure.

import { hash } from 'node:crypto';
import type { WindowKey } from '../../messages.ts';
import type { Window } from './split-graphs.ts';

/** The model, and the SHA-256 of everything else that a window's keys and values depend on. */
export function keyOfWindow({ ids, segment, index }: Window, modelId: string): string {
  const numbers = new Int32Array(ids.length + 2);
  numbers[0] = segment;
  numbers[1] = index;
  numbers.set(ids, 2);
  return `${modelId}:${hash('sha256', numbers, 'base64url')}`;
}

/** Of a document that these windows make, in this order. */
export function keyOfDocument(windows: readonly WindowKey[]): string {
  const [only] = windows;
  if (windows.length === 1 && only !== undefined) return only.key;
  return hash('sha256', windows.map(({ key }) => key).join('\n'), 'base64url');
}
