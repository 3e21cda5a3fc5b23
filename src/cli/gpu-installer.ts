// What `umpire gpu install` asks of the program, and what it is told.

import type { TakeProgress } from '../hub/model-files.ts';

export interface GpuRequest {
  /** A wheel, a package of NuGet, or a folder; undefined: the package index. */
  readonly from: string | undefined;
  /** Instead of the configured index. */
  readonly index: string | undefined;
  /** NVIDIA's libraries as well, so that the machine needs its driver alone. */
  readonly withLibraries: boolean;
  /** Libraries whose sums are not the known ones, of a source that the operator trusts. */
  readonly takesUnpinned: boolean;
  /** Made once more, though all of it is here. */
  readonly isAnew: boolean;
}

/** What would be done, before anything is fetched. */
export interface GpuPlan {
  /** Of the runtime library. */
  readonly version: string;
  readonly folder: string;
  /** Where it comes from, in words. */
  readonly source: string;
  /** By name and version, as pip takes them; with the size of the wheel. */
  readonly packages: readonly { readonly name: string; readonly licence: string; readonly bytes: number }[];
  /** Of the libraries, as they are installed. */
  readonly bytes: number;
}

export type GpuNews =
  | { readonly kind: 'taking'; readonly progress: TakeProgress }
  | { readonly kind: 'step'; readonly text: string };

export interface GpuWatcher {
  readonly signal: AbortSignal;
  /** @returns whether it shall be done */
  confirm(plan: GpuPlan): Promise<boolean>;
  tell(news: GpuNews): void;
}

export interface GpuInstall {
  /** `present`: everything was here already; `declined`: whoever was asked said no. */
  readonly outcome: 'installed' | 'present' | 'declined';
  readonly version: string;
  readonly folder: string;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
  /** What CUDA lacks on this machine all the same, in words. */
  readonly lacks: readonly string[];
  /** What was installed for other versions of the runtime library, and what deleting it gives back. */
  readonly former: readonly { readonly version: string; readonly folder: string; readonly bytes: number }[];
}

export interface GpuInstaller {
  /** @throws HubError, StartError; the signal's reason */
  install(request: GpuRequest, watcher: GpuWatcher): Promise<GpuInstall>;
}
