// How much memory the longest row of a model may take, beside its weights: a share for each worker of what the machine has,
// or of what the operator lets models take.

import { availableParallelism, totalmem } from 'node:os';
import type { Config } from '../../config/schema.ts';

/** The rest is the weights', the server's and everybody else's. */
const MEMORY_SHARE = 0.5;

export function rowBytesOf({ engine }: Config): number {
  const limit = process.constrainedMemory();
  const machine = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const total = Math.min(machine, engine.memoryBytes ?? machine);
  const { workers = Math.ceil(availableParallelism() / engine.threadsPerWorker) } = engine;
  return Math.floor((total * MEMORY_SHARE) / workers);
}
