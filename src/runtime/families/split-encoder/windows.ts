// Windows of a document: what `encode` is told of each, and a name for what it makes of them. Two windows have the same
// key only if their keys and values are the same. Pure.

import { hash } from 'node:crypto';
import type { WindowKey } from '../../messages.ts';

/** `[CLS] slice [SEP]` and where it stands. */
export interface Window extends WindowKey {
  readonly ids: Int32Array;
  readonly segment: number;
  readonly index: number;
}

type UnnamedWindow = Pick<Window, 'ids' | 'segment' | 'index'>;

export function nameWindow(window: UnnamedWindow, modelId: string): Window {
  return { ...window, tokens: window.ids.length, key: keyOfWindow(window, modelId) };
}

/** The model, and the SHA-256 of everything else that a window's keys and values depend on. */
function keyOfWindow({ ids, segment, index }: UnnamedWindow, modelId: string): string {
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

/** Of windows, or of keys and values. */
export function countTokens(parts: readonly { readonly tokens: number }[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** What outlives the task: the ids do not. */
export function keysOf(windows: readonly Window[]): WindowKey[] {
  return windows.map(({ tokens, key }) => ({ tokens, key }));
}
