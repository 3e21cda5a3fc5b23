// What is known beforehand of a package that libraries are taken out of.

import type { InstalledFile } from '../../runtime/cuda/cuda-folder.ts';

export interface PinnedPackage {
  /** At an index: `onnxruntime-gpu` */
  readonly package: string;
  /** Its wheel. */
  readonly file: string;
  /** Of the wheel. */
  readonly bytes: number;
  readonly sha256: string;
  readonly licence: string;
  /** In the order in which they are loaded. */
  readonly members: readonly InstalledFile[];
}

export interface GpuPins {
  /** Of the runtime library. */
  readonly version: string;
  readonly provider: readonly PinnedPackage[];
  /** NVIDIA's, which are loaded before it. */
  readonly libraries: readonly PinnedPackage[];
}
