// Finds and loads the addon that native/build.mjs compiles at install: the tokenizer, and calls about memory and cores.
// The only loader of it; what is done with it is native-tokenizer.ts's, worker.ts's and width-session.ts's.

import { createRequire } from 'node:module';
import type { BertVocabulary } from './tokenizer/bert-file.ts';

declare const handleMark: unique symbol;

/** A vocabulary with this thread's encoder. */
export interface NativeHandle {
  readonly [handleMark]: true;
}

export interface NativeSource extends Omit<BertVocabulary, 'ids'> {
  readonly tokens: readonly string[];
  /** `[tokens]` */
  readonly ids: Int32Array;
}

/** What native/src/addon.cc exports; its comments say more. */
export interface NativeAddon {
  readonly sourceHash: string;
  /** @returns undefined when no thread of the process has this vocabulary */
  find(digest: string): NativeHandle | undefined;
  create(digest: string, source: NativeSource): NativeHandle;
  /** `continues`: `[vocabulary]`, 1 where the token goes on with a word. */
  describe(handle: NativeHandle): { clsId: number; sepId: number; continues: Uint8Array };
  /** @returns the number of ids; they are in `target` if they fit, else `take` gives them */
  encode(handle: NativeHandle, text: string | Uint8Array, limit: number, target: Int32Array): number;
  /** @param ends `[texts]`: where the ids of each end */
  encodeAll(
    handle: NativeHandle,
    texts: readonly string[],
    limit: number,
    ends: Int32Array,
    target: Int32Array,
  ): number;
  take(target: Int32Array): void;
  /** @returns `[tokens][3]`: id, start and end in UTF-16 units of the text */
  encodeWithSpans(handle: NativeHandle, text: string): Int32Array;
  /** Where this thread may run; none where the system does not say. */
  allowedCores(): Int32Array;
  /** Until `unbindThread` this thread runs on one core alone. @returns false where that cannot be */
  bindThread(core: number): boolean;
  /** It may run again where it could before. */
  unbindThread(): void;
  /** Of the whole process, what the allocator holds and nobody uses. @returns false where there is no way to do it */
  giveBackMemory(): boolean;
}

/** Why there is none, in words. */
export interface NoAddon {
  readonly reason: string;
}

/** Beside src/ in a checkout, beside dist/ in a package. */
const FILE_MODULE = new URL('../../native/addon-file.mjs', import.meta.url);

interface FileModule {
  hashSources(): string;
  addonFile(sourceHash: string): string;
}

let loaded: Promise<NativeAddon | NoAddon> | undefined;

/** Loads it once in each thread. An addon that was built from other sources than those beside it is not used. */
export function loadAddon(): Promise<NativeAddon | NoAddon> {
  loaded ??= tryToLoad();
  return loaded;
}

export function isAddon(addon: NativeAddon | NoAddon): addon is NativeAddon {
  return 'create' in addon;
}

async function tryToLoad(): Promise<NativeAddon | NoAddon> {
  try {
    const { hashSources, addonFile } = (await import(FILE_MODULE.href)) as FileModule;
    const sourceHash = hashSources();
    const addon = createRequire(import.meta.url)(addonFile(sourceHash)) as NativeAddon;
    return addon.sourceHash === sourceHash ? addon : { reason: 'the addon is of other sources' };
  } catch (error) {
    return { reason: tell(error) };
  }
}

function tell(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const isMissing = code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND' || code === 'ENOENT';
  return isMissing
    ? 'the addon is not built; node native/build.mjs says why'
    : `the addon cannot be loaded: ${message}`;
}
