// An engine over real workers with the tiny model folders of test/fixtures, and jobs for it.

import { fileURLToPath } from 'node:url';
import type { Caller, DecideJob } from '../../src/engine/engine.ts';
import { createLocalEngine, type LocalEngine, type LocalEngineOptions } from '../../src/engine/local-engine.ts';

export const tinyDecision = fixture('tiny-decision');
export const tinyEmbedding = fixture('tiny-embedding');

function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

export function createTinyEngine(changes: Partial<LocalEngineOptions> = {}): Promise<LocalEngine> {
  return createLocalEngine({
    modelFolders: [tinyDecision, tinyEmbedding],
    device: 'cpu',
    allowDeviceFallback: false,
    workers: 2,
    threadsPerWorker: 1,
    cacheFolder: undefined,
    stateCacheBytes: 0,
    queue: { maxJobs: 100, maxCostMs: 600_000, deadlineMs: 60_000 },
    probe: { intervalMs: 0, timeoutMs: 10_000 },
    onEvent: () => undefined,
    ...changes,
  });
}

export const caller: Caller = { keyId: 'key', signal: new AbortController().signal };

/** Some thousand tokens and many questions: long enough to overlap with others. */
export function longJob(salt = 0): DecideJob {
  const questions = Array.from({ length: 16 }, (_, i) => ({
    type: 'choice' as const,
    instructions: `which option ${i}`,
    options: Array.from({ length: 20 }, (__, k) => ({ name: `option ${k}`, description: 'refund the order' })),
  }));
  return { modelId: 'tiny-decision', state: `${salt} the order of the customer is late. `.repeat(200), questions };
}
