// Workers that hold the shipped `kev`, without an engine around them.

import { fileURLToPath } from 'node:url';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { WorkerPool } from '../../src/runtime/worker-pool.ts';

export const KEV_FOLDER = fileURLToPath(new URL('../../models/kev', import.meta.url));

/** Two workers, loaded. @param cacheFolder where graphs are kept that were optimised for this machine */
export async function openKevPool(cacheFolder: string, stateCacheBytes: number): Promise<WorkerPool> {
  const pool = new WorkerPool({
    models: [await readModelFolder(KEV_FOLDER)],
    device: 'cpu',
    allowDeviceFallback: false,
    threads: 1,
    cacheFolder,
    stateCacheBytes,
    workers: 2,
    onFault: () => undefined,
  });
  await pool.loaded;
  return pool;
}
