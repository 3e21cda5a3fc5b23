// The folder that `umpire gpu install` makes: the provider libraries of one version of the runtime library, NVIDIA's
// libraries where they were asked for, and a record of both.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The runtime library looks for its providers beside itself: by this link it lies beside them. */
export const RUNTIME_FILE = 'libonnxruntime.so.1';
export const PROVIDER_FILE = 'libonnxruntime_providers_cuda.so';
export const RECORD_FILE = 'cuda.json';

const PREFIX = 'onnxruntime-';

export interface InstalledFile {
  readonly name: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** One of NVIDIA's, to be loaded before the provider. Default: one of the runtime library's own. */
  readonly isLibrary?: boolean;
}

export interface CudaRecord {
  readonly format: 1;
  /** Of the runtime library. */
  readonly version: string;
  /** In the order in which they are loaded. */
  readonly files: readonly InstalledFile[];
}

export function cudaFolderOf(gpuDir: string, version: string): string {
  return join(gpuDir, PREFIX + version);
}

/** @returns versions of the runtime library that something was installed for */
export function listInstalledVersions(gpuDir: string): readonly string[] {
  if (!existsSync(gpuDir)) return [];
  return readdirSync(gpuDir).flatMap((name) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []));
}

/** @returns undefined: there is none, or it is none of ours */
export function readCudaRecord(folder: string): CudaRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(join(folder, RECORD_FILE), 'utf8')) as CudaRecord;
    return record.format === 1 && Array.isArray(record.files) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** By their sizes, which is quick. @returns what is wrong with the first bad one, in words */
export function findFileFault(folder: string, { files }: CudaRecord): string | undefined {
  for (const { name, bytes } of files) {
    const found = statSync(join(folder, name), { throwIfNoEntry: false })?.size;
    if (found === undefined) return `${name} is missing in ${folder}`;
    if (found !== bytes) return `${name} in ${folder} has ${found} bytes instead of ${bytes}`;
  }
  return undefined;
}
