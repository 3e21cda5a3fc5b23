// Builds the engine of this machine: model folders, a pool of workers and the queue in front of it. What it does from
// then on is pooled-engine.ts's.

import { resolve } from 'node:path';
import { hasDriver } from '../runtime/cuda/cuda-lacks.ts';
import { findCuda } from '../runtime/cuda/find-cuda.ts';
import type { DeviceSetup } from '../runtime/device-setup.ts';
import type { DeviceNews } from '../runtime/load-report.ts';
import type { ModelFolder } from '../runtime/model-folder/manifest.ts';
import { readModelFolder } from '../runtime/model-folder/model-folder.ts';
import { StartError } from '../runtime/start-error.ts';
import { openTokenCounter } from '../runtime/token-counter.ts';
import { type TokenizerChoice, tellTokenizer } from '../runtime/tokenizer/open-tokenizer.ts';
import { WorkerPool } from '../runtime/worker-pool.ts';
import { defaultWorkers } from './core-count.ts';
import type { Engine } from './engine.ts';
import type { MemoryPlan } from './loading/memory-plan.ts';
import { planMemory } from './plan-memory.ts';
import { type EngineEvent, PooledEngine, type PooledEngineOptions } from './pooled-engine.ts';

const MIB = 2 ** 20;
/** Beside those that run on a device. */
const WORKERS_THAT_READ = 1;

export interface LocalEngineOptions
  extends Omit<PooledEngineOptions, 'folders' | 'pool' | 'plan' | 'openCounter'>,
    DeviceSetup {
  /** Model folders as models/README.md describes them; their order is the order of `Engine.models`. At least one. */
  readonly modelFolders: readonly string[];
  /** Those of them that are loaded when they are first asked for. Default: none */
  readonly laterFolders?: readonly string[];
  /** What models and caches may take. Default: what is available, less a reserve */
  readonly memoryBytes?: number | undefined;
  /** What caches of others in this process may grow to. Default: 0 */
  readonly otherCacheBytes?: number;
  /** undefined: cores of the cgroup ÷ threads, at least 1. */
  readonly workers: number | undefined;
  /** Folder for optimised graphs, created if missing; undefined: none are kept and every start optimises again. */
  readonly cacheFolder: string | undefined;
  /** Which code reads the texts of BERT's models; default `auto`. */
  readonly tokenizer?: TokenizerChoice | undefined;
}

export interface LocalEngine extends Engine {
  /** Resolves when every worker has loaded, checked and warmed every model; rejects with `StartError`. */
  readonly ready: Promise<void>;
  /**
   * Resolves with the reason when the device has failed and cannot be opened anew in this process: jobs that need it are
   * refused as `model_unavailable` from then on. Absent: never.
   */
  readonly deviceLost?: Promise<string> | undefined;
  /** Of calls that come from now on. */
  limitQueue(limits: PooledEngineOptions['queue']): void;
}

/**
 * Reads and verifies the model folders, then starts the workers. Jobs are refused as `overloaded` until `ready` resolves.
 * @throws StartError when a folder is broken; the message says which folder, which file and why. What only the workers
 *   find (device, golden answers) rejects `ready` instead; the workers are ended by then.
 */
export async function createLocalEngine(options: LocalEngineOptions): Promise<LocalEngine> {
  const folders = await readModelFolders(options.modelFolders);
  const { device, allowDeviceFallback, gpuDir, threadsPerWorker, cacheFolder, stateCacheBytes, tokenizer } = options;
  const { onEvent } = options;
  onEvent({ level: 'info', message: `tokenizer: ${await tellTokenizer(tokenizer)}` });
  const workers = options.workers ?? workersByDefault(options);
  const later = new Set(options.laterFolders?.map((path) => resolve(path)));
  const plan = await planMemory(folders, { ...options, workers, later });
  if (plan.shortBytes > 0) onEvent({ level: 'warn', message: tellShortage(plan) });
  const pool = new WorkerPool({
    models: folders.filter(({ path }) => !later.has(path)),
    laterModels: folders.filter(({ path }) => later.has(path)),
    device,
    allowDeviceFallback,
    gpuDir,
    threads: threadsPerWorker,
    aloneThreads: workers * threadsPerWorker,
    cacheFolder,
    stateCacheBytes,
    tokenizer,
    batch: options.batch,
    workers,
    onFault: (message) => onEvent({ level: 'error', message }),
    onDevice: (news) => onEvent(tellNews(news)),
  });
  const openCounter = (folder: ModelFolder) => openTokenCounter(folder, tokenizer);
  return new PooledEngine({ ...options, folders, pool, plan, openCounter });
}

/** On a device further workers would only keep memory of it. */
function workersByDefault({ device, gpuDir, threadsPerWorker, batch }: LocalEngineOptions): number {
  const ofCores = defaultWorkers(threadsPerWorker);
  const isDevice = device !== 'cpu' && (device !== 'auto' || ('provider' in findCuda(gpuDir) && hasDriver()));
  return isDevice && batch !== undefined ? Math.min(ofCores, batch.inFlight + WORKERS_THAT_READ) : ofCores;
}

async function readModelFolders(paths: readonly string[]): Promise<ModelFolder[]> {
  const folders = await Promise.all(paths.map(readModelFolder));
  const ids = folders.map(({ manifest }) => manifest.id);
  const twice = ids.find((id, place) => ids.indexOf(id) !== place);
  if (twice !== undefined) {
    const those = folders.filter(({ manifest }) => manifest.id === twice).map(({ path }) => path);
    throw new StartError(`${those.length} model folders have the id ${twice}: ${those.join(', ')}`);
  }
  return folders;
}

function tellNews({ state, reason }: DeviceNews): EngineEvent {
  const details = { reason };
  switch (state) {
    case 'failing':
      return { level: 'warn', message: 'the device failed; a worker opens its models anew', details };
    case 'revived':
      return { level: 'info', message: 'the models that were opened anew after a fault of the device answer', details };
    case 'lost':
      return { level: 'error', message: 'the device is lost to this process', details };
  }
}

function tellShortage({ shortBytes }: MemoryPlan): string {
  const short = `full caches may need ${Math.ceil(shortBytes / MIB)} MiB more than there are`;
  return `memory: ${short}; smaller ones (engine.stateCacheBytes) or fewer workers (engine.workers) help`;
}
