// How the measured server runs its models: what its configuration says, and what it says of itself.

import { loadConfig } from '../../src/config/load.ts';
import type { BenchClient } from '../load/client.ts';

export interface EngineSettings {
  readonly workers: number;
  readonly threadsPerWorker: number;
  readonly device: 'cpu';
}

/** The bare loops run the graphs of the CPU; a server on another device would be compared with something else. */
export const DEVICE = 'cpu';

export async function readEngineSettings(client: BenchClient): Promise<EngineSettings> {
  const { threadsPerWorker } = loadConfig({ flags: {} }).config.engine;
  const { text } = await client.get('/metrics');
  const workers = Number(/^umpire_engine_workers (\d+)$/m.exec(text)?.[1]);
  if (!(workers >= 1)) throw new Error('/metrics does not say how many workers there are.');
  return { workers, threadsPerWorker, device: DEVICE };
}
