// The native tokenizer for tests that are about it, with no folder around its tokenizer.json.

import { createHash } from 'node:crypto';
import { isAddon, loadAddon, type NativeAddon } from '../../src/runtime/native.ts';
import { addVocabulary, NativeTokenizer } from '../../src/runtime/tokenizer/native-tokenizer.ts';

/** @throws Error that says why there is none */
export async function requireAddon(): Promise<NativeAddon> {
  const addon = await loadAddon();
  if (!isAddon(addon)) throw new Error(addon.reason);
  return addon;
}

/** @param bytes of a tokenizer.json */
export async function openNative(bytes: Buffer): Promise<NativeTokenizer> {
  const addon = await requireAddon();
  const digest = createHash('sha256').update(bytes).digest('hex');
  const file: unknown = JSON.parse(bytes.toString());
  return new NativeTokenizer(addon, addVocabulary(addon, digest, file), file);
}
