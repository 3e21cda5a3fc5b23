// What the models of some folders may need of memory, and whether there is so much: asked before anything is loaded.

import { measureFolder } from '../runtime/model-folder/folder-size.ts';
import type { ModelFolder } from '../runtime/model-folder/manifest.ts';
import { findPrecision } from '../runtime/model-folder/precision.ts';
import { memoryForModels } from './available-memory.ts';
import { documentCacheBytes } from './decision/decider.ts';
import { memoryNeed } from './loading/memory-need.ts';
import { MemoryPlan } from './loading/memory-plan.ts';

export interface MemoryQuestion {
  readonly workers: number;
  /** Paths of those that are loaded when they are first asked for. */
  readonly later: ReadonlySet<string>;
  /** undefined: optimised graphs are not kept. */
  readonly cacheFolder: string | undefined;
  readonly stateCacheBytes: number;
  /** What models and caches may take. Default: what is available, less a reserve, for the models alone */
  readonly memoryBytes?: number | undefined;
  /** What caches of others in this process may grow to. Default: 0 */
  readonly otherCacheBytes?: number;
}

/** @throws StartError when the models do not fit */
export async function planMemory(folders: readonly ModelFolder[], question: MemoryQuestion): Promise<MemoryPlan> {
  const { workers, later, cacheFolder, stateCacheBytes, memoryBytes } = question;
  // Another device has memory of its own; what it cannot take is here all the same.
  const isMapped = cacheFolder !== undefined;
  const models = await Promise.all(
    folders.map(async (folder) => {
      const { manifest, path } = folder;
      const size = await measureFolder(folder, findPrecision(folder, 'cpu') ?? findPrecision(folder, 'cuda') ?? '');
      const needBytes = memoryNeed(manifest, size, { workers, isMapped });
      const load = later.has(path) ? ('first-use' as const) : ('start' as const);
      return { id: manifest.id, load, weightBytes: size.weightBytes, loadingBytes: size.largestGraphBytes, needBytes };
    }),
  );
  const documentBytes = documentCacheBytes(
    folders.map(({ manifest }) => manifest),
    { workers, stateCacheBytes },
  );
  return new MemoryPlan({
    models,
    cacheBytes: documentBytes + (question.otherCacheBytes ?? 0),
    // Caches fill with use, and estimates are careful: a machine that nobody has measured is not refused for their sake.
    keepsRoomForCaches: memoryBytes !== undefined,
    budgetBytes: memoryBytes ?? memoryForModels(),
    workers,
  });
}
