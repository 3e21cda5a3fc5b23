// Where what CUDA needs is kept.

import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';

/** Where `umpire gpu install` puts what CUDA needs. */
export function gpuDirOf({ engine, dataDir }: Config): string {
  return engine.gpuDir ?? join(dataDir, 'gpu');
}
