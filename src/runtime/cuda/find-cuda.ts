// Whether the runtime library can be asked for CUDA at all: its provider is a file of its own, which no package of npm
// brings. Asking the library tells nothing: it says that CUDA is not bundled even where the file lies beside it.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  cudaFolderOf,
  findFileFault,
  listInstalledVersions,
  PROVIDER_FILE,
  RUNTIME_FILE,
  readCudaRecord,
} from './cuda-folder.ts';

const BINDING_FOLDER = /^napi-v\d+$/;

export interface RuntimeLibrary {
  readonly platform: string;
  readonly arch: string;
  readonly version: string;
  /** Folder of the package `onnxruntime-node`. */
  readonly packageFolder: string;
}

/** Where everything is that CUDA needs of the runtime library, or why that cannot be. */
export type FoundCuda =
  | {
      readonly provider: string;
      /** The folder with the provider, into which the runtime library is linked; undefined: they are neighbours. */
      readonly folder: string | undefined;
      /** NVIDIA's libraries that were installed with it, in the order in which they are loaded. */
      readonly libraries: readonly string[];
    }
  | {
      /** In words, with what to do. */
      readonly reason: string;
      /** Nothing was ever installed. */
      readonly isAbsent: boolean;
    };

/** @param gpuDir of `umpire gpu install`; undefined: the package alone is looked at */
export function findCuda(gpuDir: string | undefined, runtime: RuntimeLibrary = findRuntimeLibrary()): FoundCuda {
  if (!isSupported(runtime)) return { reason: 'CUDA is for Linux on x64', isAbsent: true };
  const installed = gpuDir === undefined ? undefined : findInstalled(gpuDir, runtime.version);
  if (installed !== undefined && 'provider' in installed) return installed;
  const provider = findFileBeside(PROVIDER_FILE, runtime);
  if (provider !== undefined) return { provider, folder: undefined, libraries: [] };
  return installed ?? { reason: 'no CUDA provider is installed (`umpire gpu install` brings it)', isAbsent: true };
}

export function isSupported({ platform, arch }: Pick<RuntimeLibrary, 'platform' | 'arch'>): boolean {
  return platform === 'linux' && arch === 'x64';
}

/** @returns undefined: no binary of the package is for this system */
export function findRuntimeFile(runtime: RuntimeLibrary = findRuntimeLibrary()): string | undefined {
  return findFileBeside(RUNTIME_FILE, runtime);
}

export function findRuntimeLibrary(): RuntimeLibrary {
  const manifest = createRequire(import.meta.url).resolve('onnxruntime-node/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return { platform: process.platform, arch: process.arch, version, packageFolder: dirname(manifest) };
}

function findInstalled(gpuDir: string, version: string): FoundCuda | undefined {
  const folder = cudaFolderOf(gpuDir, version);
  const record = readCudaRecord(folder);
  if (record === undefined) {
    const others = listInstalledVersions(gpuDir);
    if (others.length === 0) return undefined;
    if (others.includes(version)) return unusable(`${folder} is not as it was installed`);
    return unusable(
      `the CUDA provider in ${gpuDir} is of version ${others.join(', ')}, the runtime library of ${version}`,
    );
  }
  const fault = findFileFault(folder, record);
  if (fault !== undefined) return unusable(fault);
  const libraries = record.files.filter(({ isLibrary }) => isLibrary).map(({ name }) => join(folder, name));
  return { provider: join(folder, PROVIDER_FILE), folder, libraries };
}

function unusable(what: string): FoundCuda {
  return { reason: `${what}: run \`umpire gpu install\` again`, isAbsent: false };
}

function findFileBeside(file: string, { platform, arch, packageFolder }: RuntimeLibrary): string | undefined {
  const binaries = join(packageFolder, 'bin');
  const bindings = existsSync(binaries) ? readdirSync(binaries).filter((name) => BINDING_FOLDER.test(name)) : [];
  return bindings.map((name) => join(binaries, name, platform, arch, file)).find((path) => existsSync(path));
}
