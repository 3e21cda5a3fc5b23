// The engine that a configuration asks for, as its maker wants to be told. Makes none.

import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { LocalEngineOptions } from '../engine/local-engine.ts';
import type { Logger } from '../observability/logger.ts';
import { gpuDirOf } from './gpu/gpu-dir.ts';

export interface EngineParts {
  readonly folders: readonly string[];
  /** Those of them that are loaded when they are first asked for. Default: none */
  readonly laterFolders?: readonly string[];
  readonly logger: Logger;
  readonly cacheFolder: string | undefined;
}

export function engineOptionsOf(config: Config, parts: EngineParts): LocalEngineOptions {
  const { engine, embeddings, answers } = config;
  return {
    modelFolders: parts.folders,
    laterFolders: parts.laterFolders ?? [],
    memoryBytes: engine.memoryBytes,
    otherCacheBytes: answers.cacheBytes,
    device: engine.device,
    allowDeviceFallback: engine.allowDeviceFallback,
    gpuDir: gpuDirOf(config),
    workers: engine.workers,
    batch: engine.batch,
    threadsPerWorker: engine.threadsPerWorker,
    cacheFolder: parts.cacheFolder,
    stateCacheBytes: engine.stateCacheBytes,
    tokenizer: engine.tokenizer,
    longInputs: embeddings.longInputs,
    queue: queueLimitsOf(config),
    probe: { intervalMs: engine.probeIntervalMs, timeoutMs: engine.probeTimeoutMs },
    onEvent: ({ level, message, details }) => parts.logger[level]({ ...details }, message),
  };
}

export function queueLimitsOf({ engine }: Config): LocalEngineOptions['queue'] {
  return { maxJobs: engine.queueMaxJobs, maxCostMs: engine.queueMaxCostMs, deadlineMs: engine.queueDeadlineMs };
}

/** Where optimised graphs are kept. */
export function cacheFolderOf({ engine, dataDir }: Config): string {
  return engine.cacheDir ?? join(dataDir, 'cache');
}
