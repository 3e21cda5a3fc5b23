// What a model takes of memory once it is loaded and runs. Estimates, made of measurements: docs/guides/operations.md has
// both beside each other. Pure.

import type { FolderSize } from '../../runtime/model-folder/folder-size.ts';
import type { Manifest } from '../../runtime/model-folder/manifest.ts';

const MIB = 2 ** 20;

/** Sessions, and what a graph keeps beside its weights. */
const SESSION_BYTES = 16 * MIB;
/** What the layout that kernels want adds to weights. */
const LAYOUT = 1.1;
/**
 * Heap of a tokenizer in each worker ÷ bytes of tokenizer.json. Measured where a tree of all pieces of a
 * Unigram vocabulary was kept, 316 MiB for 250,000 of them; our own tables take less, so this is careful.
 */
const HEAP_OF_KIND: Readonly<Record<string, number>> = { WordPiece: 8, BPE: 15, Unigram: 38 };
const HEAP_OF_OTHERS = 15;
/**
 * What runs take at their peak in one worker, where nobody has measured it for the model: 20 MiB of `text-embed-mini`,
 * whose weights are 22, and about this of `kev` and of a BERT-base.
 */
const PEAK_BYTES = 64 * MIB;

export interface NeedCircumstances {
  readonly workers: number;
  /** Whether workers map one copy of the weights; else each has its own. */
  readonly isMapped: boolean;
}

/** @returns bytes */
export function memoryNeed(
  manifest: Pick<Manifest, 'probe'>,
  { weightBytes, tokenizerBytes, tokenizerKind }: FolderSize,
  { workers, isMapped }: NeedCircumstances,
): number {
  const heapBytes = tokenizerBytes * (HEAP_OF_KIND[tokenizerKind] ?? HEAP_OF_OTHERS);
  // A probe beside other work may see next to nothing: memory that was free already hides the peak.
  const peakBytes = Math.max(manifest.probe?.peak_bytes ?? 0, Math.min(PEAK_BYTES, weightBytes));
  const perWorkerBytes = SESSION_BYTES + heapBytes + peakBytes;
  return Math.ceil(weightBytes * LAYOUT * (isMapped ? 1 : workers) + workers * perWorkerBytes);
}
