// What CUDA needs of the system beside the provider, what of that is missing, and what to do about it: the same words for
// `umpire doctor`, for a start that fails and for one that takes the CPU instead.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FoundCuda } from './find-cuda.ts';
import { findLoadFault } from './load-library.ts';

/** CUDA 13 runs with no older one. */
const OLDEST_DRIVER = 580;
const DRIVER_FILE = 'libcuda.so.1';
const DRIVER_REMEDY = `install NVIDIA's driver ${OLDEST_DRIVER} or newer; a container needs the NVIDIA Container Toolkit and \`--gpus all\``;

/** What the provider of this version links to, and what it loads by name. */
const LIBRARIES = [
  {
    what: 'CUDA 13',
    files: ['libcudart.so.13', 'libcublasLt.so.13', 'libcublas.so.13', 'libcurand.so.10', 'libnvrtc.so.13'],
  },
  { what: 'cuDNN 9', files: ['libcudnn.so.9'] },
] as const;

export interface CudaLack {
  /** `no CUDA 13 (libcublas.so.13)` */
  readonly what: string;
  readonly remedy: string;
}

/** Where one looks; tests have their own. */
export interface CudaSystem {
  /** Why the loader cannot load it. */
  readonly findLoadFault: (library: string) => string | undefined;
  /** `580.65.06`; undefined: it is not said. */
  readonly driverVersion: string | undefined;
  /** Where libraries often lie, and the loader may not look. */
  readonly folders: readonly string[];
}

export function findCudaLacks(libraries: readonly string[], system: CudaSystem = ownSystem()): readonly CudaLack[] {
  const lacks = LIBRARIES.flatMap(({ what, files }) => findLibraryLacks(what, files, { libraries, system }));
  const driver = findDriverLack(system);
  return driver === undefined ? lacks : [driver, ...lacks];
}

/** Why the provider does not work, as far as the system tells. @returns undefined: nothing is missing */
export function explainCuda(found: FoundCuda, system: CudaSystem = ownSystem()): string | undefined {
  if (!('provider' in found)) return found.reason;
  const lacks = findCudaLacks(found.libraries, system);
  if (lacks.length > 0) return lacks.map(({ what, remedy }) => `${what}: ${remedy}`).join('; ');
  return system.findLoadFault(found.provider);
}

/** Whether there is anything that a provider could run on. */
export function hasDriver(system: CudaSystem = ownSystem()): boolean {
  return system.driverVersion !== undefined || system.findLoadFault(DRIVER_FILE) === undefined;
}

function findDriverLack({ findLoadFault: fault, driverVersion }: CudaSystem): CudaLack | undefined {
  if (driverVersion !== undefined && Number.parseInt(driverVersion, 10) < OLDEST_DRIVER)
    return { what: `the NVIDIA driver ${driverVersion} is too old for CUDA 13`, remedy: DRIVER_REMEDY };
  return fault(DRIVER_FILE) === undefined
    ? undefined
    : { what: `no NVIDIA driver (${DRIVER_FILE})`, remedy: DRIVER_REMEDY };
}

interface LibraryLook {
  /** Installed ones, by their paths. */
  readonly libraries: readonly string[];
  readonly system: CudaSystem;
}

function findLibraryLacks(what: string, files: readonly string[], { libraries, system }: LibraryLook): CudaLack[] {
  const missing = files.filter((file) => {
    const installed = libraries.find((path) => basename(path) === file);
    return system.findLoadFault(installed ?? file) !== undefined;
  });
  if (missing.length === 0) return [];
  const told = `no ${what} (${missing.join(', ')})`;
  const place = system.folders.find((folder) => missing.every((file) => existsSync(join(folder, file))));
  if (place !== undefined)
    return [
      {
        what: `${told} in the library path`,
        remedy: `it lies in ${place}: put that into LD_LIBRARY_PATH, or into /etc/ld.so.conf.d and run ldconfig`,
      },
    ];
  return [{ what: told, remedy: `\`umpire gpu install --libraries\` brings it, or install NVIDIA's ${what}` }];
}

function ownSystem(): CudaSystem {
  return { findLoadFault, driverVersion: readDriverVersion(), folders: listUsualFolders() };
}

/** `NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  …` */
function readDriverVersion(): string | undefined {
  try {
    return /Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)/.exec(
      readFileSync('/proc/driver/nvidia/version', 'utf8'),
    )?.[1];
  } catch {
    return undefined;
  }
}

function listUsualFolders(): readonly string[] {
  const local = existsSync('/usr/local') ? readdirSync('/usr/local').filter((name) => /^cuda/.test(name)) : [];
  const cuda = local.flatMap((name) => [`/usr/local/${name}/lib64`, `/usr/local/${name}/lib`]);
  return [...cuda, '/usr/lib/x86_64-linux-gnu', '/usr/lib/wsl/lib'];
}
