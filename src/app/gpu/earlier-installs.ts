// What earlier installs have left in the folder of CUDA's provider: libraries that can be taken over, of this version or a former
// one, and former versions as a whole, which stay until somebody deletes them: a server may still run one, or go back to it.

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CudaRecord,
  cudaFolderOf,
  findFileFault,
  type InstalledFile,
  listInstalledVersions,
  readCudaRecord,
} from '../../runtime/cuda/cuda-folder.ts';
import type { PinnedPackage } from './pinned-package.ts';

export interface PresentFile {
  readonly file: InstalledFile;
  readonly folder: string;
}

export interface FormerVersion {
  readonly version: string;
  readonly folder: string;
  /** What deleting it gives back. */
  readonly bytes: number;
}

/**
 * Of this version whatever is whole; of former ones the libraries that are known to be the same.
 * @returns by name, in the order of the packages
 */
export function listPresent(
  gpuDir: string,
  version: string,
  packages: readonly PinnedPackage[],
): Map<string, PresentFile> {
  const found = new Map<string, PresentFile>();
  for (const member of packages.flatMap(({ members }) => members)) {
    const own = findWhole(cudaFolderOf(gpuDir, version), member.name);
    const present = own ?? findInFormer(gpuDir, version, member);
    if (present !== undefined) found.set(member.name, present);
  }
  return found;
}

function findInFormer(gpuDir: string, version: string, { name, sha256 }: InstalledFile): PresentFile | undefined {
  return formerVersions(gpuDir, version)
    .map((former) => findWhole(cudaFolderOf(gpuDir, former), name))
    .find((present) => present?.file.sha256 === sha256);
}

/** By its size, which is quick. */
function findWhole(folder: string, name: string): PresentFile | undefined {
  const record = readCudaRecord(folder);
  const file = record?.files.find((each) => each.name === name);
  if (record === undefined || file === undefined) return undefined;
  return findFileFault(folder, { ...record, files: [file] }) === undefined ? { file, folder } : undefined;
}

/** Whether NVIDIA's libraries were installed, for any version: whoever had them once keeps them. */
export function hadLibraries(gpuDir: string): boolean {
  const records = listInstalledVersions(gpuDir).map((version) => readCudaRecord(cudaFolderOf(gpuDir, version)));
  return records.some((record: CudaRecord | undefined) => record?.files.some(({ isLibrary }) => isLibrary) === true);
}

export function listFormerVersions(gpuDir: string, version: string): FormerVersion[] {
  return formerVersions(gpuDir, version).map((former) => {
    const folder = cudaFolderOf(gpuDir, former);
    return { version: former, folder, bytes: sumOwnBytes(folder) };
  });
}

function formerVersions(gpuDir: string, version: string): string[] {
  return listInstalledVersions(gpuDir).filter((each) => each !== version);
}

/** Without files that lie in the folder of another version, too. */
function sumOwnBytes(folder: string): number {
  const found = readdirSync(folder).map((name) => lstatSync(join(folder, name)));
  return found.filter((file) => file.isFile() && file.nlink === 1).reduce((sum, { size }) => sum + size, 0);
}

/** Of files in a folder; nothing where there is none. */
export function sumFetchedBytes(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + lstatSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}
