// What a worker has of CUDA. Imported by worker.ts before anything that loads the runtime library.

import { workerData } from 'node:worker_threads';
import type { WorkerSetup } from '../messages.ts';
import { type FoundCuda, findCuda } from './find-cuda.ts';
import { preloadCuda } from './preload-cuda.ts';

/** By `auto`, or by its name. */
const MAY_BE_CUDA = ['auto', 'cuda'];

export const workerCuda: FoundCuda = findForWorker(workerData as WorkerSetup);

function findForWorker({ device, gpuDir }: WorkerSetup): FoundCuda {
  if (!MAY_BE_CUDA.includes(device)) return { reason: 'it was not asked for', isAbsent: true };
  return preloadCuda(findCuda(gpuDir));
}
