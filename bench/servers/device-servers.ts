// Our server on a device, beside the same on the processor; and whether there is such a device at all, asked before anything is
// started. `cpu` is a device, too: its rows share runs as on a real one, by full-precision graphs, which tries the bench itself.

import { resolve } from 'node:path';
import { gpuDirOf } from '../../src/app/gpu/gpu-dir.ts';
import { loadConfig } from '../../src/config/load.ts';
import { explainCuda } from '../../src/runtime/cuda/cuda-lacks.ts';
import { findCuda } from '../../src/runtime/cuda/find-cuda.ts';
import { ToldFault } from '../machine/told-fault.ts';
import type { Server, Settings } from './server.ts';
import { umpire, WITHOUT_CACHES } from './umpire.ts';

const PROCESSOR = 'cpu';
const ON_PROCESSOR = { UMPIRE_ENGINE_DEVICE: PROCESSOR, UMPIRE_ENGINE_BATCH_ON_CPU: 'true' };
/** What a run takes by default, and a sixteenth to four times of it. */
export const BATCH_TOKENS: readonly number[] = [1024, 4096, 16_384, 65_536];
const DEFAULT_BATCH_TOKENS = 16_384;

export class MissingDevice extends ToldFault {}

/** Where `umpire gpu install` has put what CUDA needs, for this checkout or as it is configured. */
function gpuDir(): string {
  return resolve(gpuDirOf(loadConfig({ flags: {} }).config));
}

/** @returns what is missing, in words; undefined: nothing that could be seen from here */
export function findDeviceLack(device: string): string | undefined {
  return device === 'cuda' ? explainCuda(findCuda(gpuDir())) : undefined;
}

/** @throws MissingDevice where it cannot be used, or is none */
export function requireDevice(device: string): void {
  if (!/^[a-z0-9]+$/.test(device) || device === 'auto')
    throw new MissingDevice(`--device ${device}: name the device, cuda or cpu.`);
  const lack = findDeviceLack(device);
  if (lack !== undefined) throw new MissingDevice(`Nothing was measured: CUDA cannot be used here: ${lack}`);
}

/** Of a server on that device. */
export function deviceSettings(device: string): Settings {
  return device === PROCESSOR ? ON_PROCESSOR : { UMPIRE_ENGINE_DEVICE: device, UMPIRE_ENGINE_GPU_DIR: gpuDir() };
}

/** The same weights in full precision, each row by itself: the answers that a device is compared with. */
export const EXACT_SETTINGS: Settings = { ...ON_PROCESSOR, UMPIRE_ENGINE_BATCH_EXACT: 'true' };

/** Our server in the forms that are measured. */
export class DeviceServers {
  readonly #device: string;
  readonly #graphCache: string;

  /** @param graphCache a folder: only the first of them has to optimise graphs for the processor */
  constructor(device: string, graphCache: string) {
    this.#device = device;
    this.#graphCache = graphCache;
  }

  /** As `EXACT_SETTINGS`. */
  exact(): Server {
    return this.#with(EXACT_SETTINGS);
  }

  /** On the device, and as most have it without one. */
  beside(): Readonly<Record<'device' | 'processor', Server>> {
    return {
      device: this.#with(deviceSettings(this.#device)),
      processor: this.#with({ UMPIRE_ENGINE_DEVICE: PROCESSOR }),
    };
  }

  /** On the device, by what one run takes: a row by itself first, then so many tokens. */
  byBatch(tokens: readonly number[]): Readonly<Record<string, Server>> {
    const own = deviceSettings(this.#device);
    const sized = tokens.map((count) => {
      const name = count === DEFAULT_BATCH_TOKENS ? `${count} tokens (default)` : `${count} tokens`;
      return [name, this.#with({ ...own, UMPIRE_ENGINE_BATCH_TOKENS: String(count) })] as const;
    });
    const alone = this.#with({ ...own, UMPIRE_ENGINE_BATCH_EXACT: 'true' });
    return { 'a row by itself': alone, ...Object.fromEntries(sized) };
  }

  #with(settings: Settings): Server {
    return umpire({ settings: { ...WITHOUT_CACHES, UMPIRE_ENGINE_CACHE_DIR: this.#graphCache, ...settings } });
  }
}
