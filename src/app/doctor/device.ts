// What `umpire doctor` finds about the device that models would run on. Whether it works, a run of the models tells.

import { join } from 'node:path';
import type { Finding } from '../../cli/program.ts';
import type { Config } from '../../config/schema.ts';
import { readCudaRecord } from '../../runtime/cuda/cuda-folder.ts';
import { findCudaLacks, hasDriver } from '../../runtime/cuda/cuda-lacks.ts';
import { type FoundCuda, findCuda } from '../../runtime/cuda/find-cuda.ts';
import { findLoadFault } from '../../runtime/cuda/load-library.ts';
import { sumOfFile } from '../../runtime/model-folder/file-sum.ts';
import { gpuDirOf } from '../gpu/gpu-dir.ts';
import { fault, note, ok, warning } from './findings.ts';

const SUBJECT = 'device';

interface DeviceLook {
  /** Large files are not read. */
  readonly isQuick: boolean;
}

/** @returns whether models can be loaded as configured, as far as that can be seen */
export async function* lookAtDevice(config: Config, { isQuick }: DeviceLook): AsyncGenerator<Finding, boolean> {
  const { device, allowDeviceFallback } = config.engine;
  if (device !== 'auto' && device !== 'cuda') {
    yield ok(SUBJECT, `${device}, as configured`);
    return true;
  }
  const isNeeded = device === 'cuda' && !allowDeviceFallback;
  const found = findCuda(gpuDirOf(config));
  if (!('provider' in found)) {
    yield tellWithout(found, { device, isNeeded });
    return !isNeeded;
  }
  let isWhole = true;
  for await (const finding of lookAtParts(found, isNeeded, isQuick)) {
    isWhole = false;
    yield finding;
  }
  if (isWhole) yield ok(SUBJECT, `${device}: CUDA will be tried, by ${found.provider}`);
  return isWhole || !isNeeded;
}

function tellWithout(
  { reason, isAbsent }: Exclude<FoundCuda, { provider: string }>,
  { device, isNeeded }: { device: string; isNeeded: boolean },
): Finding {
  if (isNeeded) return fault(SUBJECT, `${device} cannot be used: ${reason}`);
  if (!isAbsent || device === 'cuda') return warning(SUBJECT, `cpu: ${reason}`, 'or set engine.device to cpu');
  return hasDriver()
    ? note(SUBJECT, `cpu (auto): an NVIDIA driver is here, but ${reason}`)
    : ok(SUBJECT, 'cpu (auto): no NVIDIA driver is here');
}

/** @returns what is wrong with any of them */
async function* lookAtParts(
  found: Extract<FoundCuda, { provider: string }>,
  isNeeded: boolean,
  isQuick: boolean,
): AsyncGenerator<Finding> {
  const tell = (text: string, remedy: string): Finding =>
    isNeeded ? fault(SUBJECT, text, remedy) : warning(SUBJECT, text, remedy);
  if (!isQuick && found.folder !== undefined) {
    for (const { name, sha256 } of readCudaRecord(found.folder)?.files ?? []) {
      if ((await sumOfFile(join(found.folder, name))) !== sha256)
        yield tell(`${name} in ${found.folder} has other bytes than were installed`, '`umpire gpu install --replace`');
    }
  }
  const lacks = findCudaLacks(found.libraries);
  for (const { what, remedy } of lacks) yield tell(`CUDA cannot be used: ${what}`, remedy);
  const loadFault = lacks.length === 0 ? findLoadFault(found.provider) : undefined;
  if (loadFault !== undefined) yield tell(`CUDA cannot be used: ${loadFault}`, '`umpire gpu install --replace`');
}
