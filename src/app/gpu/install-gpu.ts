// `umpire gpu install`: the libraries of CUDA's provider, fetched or found, verified, and put into their folder at once.
// Loaded only for its command.

import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GpuInstall, GpuInstaller, GpuPlan, GpuRequest, GpuWatcher } from '../../cli/gpu-installer.ts';
import { readIndexSettings } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import type { IndexSettings } from '../../hub/package-index.ts';
import type { Pause } from '../../hub/temporary-fault.ts';
import { type CudaRecord, cudaFolderOf, type InstalledFile, RECORD_FILE } from '../../runtime/cuda/cuda-folder.ts';
import { findCudaLacks } from '../../runtime/cuda/cuda-lacks.ts';
import { findRuntimeFile, findRuntimeLibrary, isSupported, type RuntimeLibrary } from '../../runtime/cuda/find-cuda.ts';
import { linkRuntime } from '../../runtime/cuda/preload-cuda.ts';
import { syncPath } from '../../runtime/graph-cache.ts';
import { sumOfFile } from '../../runtime/model-folder/file-sum.ts';
import { holdFileLock } from '../../runtime/model-folder/model-lock.ts';
import { StartError } from '../../runtime/start-error.ts';
import { cleanPlaces, putInPlace } from '../pull/folder-draft.ts';
import type { PulledPlaces } from '../pull/pulled-places.ts';
import {
  hadLibraries,
  listFormerVersions,
  listPresent,
  type PresentFile,
  sumFetchedBytes,
} from './earlier-installs.ts';
import { gpuDirOf } from './gpu-dir.ts';
import { type LibrarySource, openArchive, openLocalSource } from './library-source.ts';
import type { GpuPins, PinnedPackage } from './pinned-package.ts';
import { LIBRARY_PACKAGES, PINNED_VERSION, PROVIDER_PACKAGES } from './pinned-packages.ts';
import { writeLibrary } from './written-library.ts';

export interface GpuSurroundings {
  readonly gpuDir: string;
  readonly runtime: RuntimeLibrary;
  readonly pins: GpuPins;
  readonly index: IndexSettings;
  /** How one waits between tries. Default: for real */
  readonly pause?: Pause;
}

export function openGpuInstaller(config: Config): GpuInstaller {
  const pins = { version: PINNED_VERSION, provider: PROVIDER_PACKAGES, libraries: LIBRARY_PACKAGES };
  const around = { gpuDir: gpuDirOf(config), runtime: findRuntimeLibrary(), pins, index: readIndexSettings() };
  return createGpuInstaller(around);
}

export function createGpuInstaller(around: GpuSurroundings): GpuInstaller {
  return { install: (request, watcher) => installGpu(request, watcher, around) };
}

async function installGpu(request: GpuRequest, watcher: GpuWatcher, around: GpuSurroundings): Promise<GpuInstall> {
  const { gpuDir, runtime, pins } = around;
  if (!isSupported(runtime)) throw new StartError('CUDA is for Linux on x64; this is another system.');
  if (pins.version !== runtime.version)
    throw new StartError(
      `The runtime library is of version ${runtime.version}, and the known providers of ${pins.version}.`,
    );
  const places = gpuPlacesOf(gpuDir, pins.version);
  const lock = await holdFileLock(places.lock, `Somebody else is installing into ${gpuDir}.`);
  try {
    await cleanPlaces(places);
    return await new Installation({ request, watcher, around, places }).run();
  } finally {
    lock.release();
  }
}

function gpuPlacesOf(gpuDir: string, version: string): PulledPlaces {
  return {
    folder: cudaFolderOf(gpuDir, version),
    staging: join(gpuDir, '.fetched'),
    draft: join(gpuDir, '.draft'),
    former: join(gpuDir, '.former'),
    lock: join(gpuDir, '.lock'),
  };
}

interface InstallationParts {
  readonly request: GpuRequest;
  readonly watcher: GpuWatcher;
  readonly around: GpuSurroundings;
  readonly places: PulledPlaces;
}

class Installation {
  readonly #parts: InstallationParts;
  readonly #packages: readonly PinnedPackage[];
  /** What earlier installs have left that is as it should be. */
  readonly #present: ReadonlyMap<string, PresentFile>;

  constructor(parts: InstallationParts) {
    const { request, around } = parts;
    this.#parts = parts;
    const { provider, version } = around.pins;
    const libraries = around.pins.libraries.map(markAsLibraries);
    const takesLibraries = request.withLibraries || hadLibraries(around.gpuDir);
    this.#packages = [...(takesLibraries ? libraries : []), ...provider];
    const present = listPresent(around.gpuDir, version, this.#packages);
    const anew = request.isAnew ? [...(request.withLibraries ? libraries : []), ...provider] : [];
    for (const { name } of anew.flatMap(({ members }) => members)) present.delete(name);
    this.#present = present;
  }

  async run(): Promise<GpuInstall> {
    const { watcher, places } = this.#parts;
    const missing = this.#packages.filter(({ members }) => !members.every(({ name }) => this.#present.has(name)));
    const isHere = [...this.#present.values()].every(({ folder }) => folder === places.folder);
    if (missing.length === 0 && isHere)
      return this.#end(
        'present',
        [...this.#present.values()].map(({ file }) => file),
      );
    if (!(await watcher.confirm(this.#plan(missing)))) return this.#end('declined', []);
    const { checkRoom, tellFullDisk } = await import('../../hub/folder-room.ts');
    try {
      await mkdir(places.draft, { recursive: true });
      await checkRoom(this.#parts.around.gpuDir, this.#bytesToCome(missing));
      const files = await this.#fill(missing);
      await this.#seal(files);
      await putInPlace(places);
      await rm(places.staging, { recursive: true, force: true });
      return this.#end('installed', files);
    } catch (error) {
      throw tellFullDisk(error, this.#parts.around.gpuDir);
    } finally {
      await rm(places.draft, { recursive: true, force: true });
    }
  }

  #plan(missing: readonly PinnedPackage[]): GpuPlan {
    const { request, around, places } = this.#parts;
    const index = request.index ?? around.index.index;
    return {
      version: around.pins.version,
      folder: places.folder,
      source: request.from ?? index,
      packages: missing.map((pinned) => ({ name: nameOf(pinned), licence: pinned.licence, bytes: pinned.bytes })),
      bytes: sumBytes(missing.flatMap(({ members }) => members)),
    };
  }

  /** What is fetched stays until everything is unpacked. */
  #bytesToCome(missing: readonly PinnedPackage[]): number {
    const unpacked = sumBytes(missing.flatMap(({ members }) => members));
    if (this.#parts.request.from !== undefined) return unpacked;
    return unpacked + Math.max(0, sumBytes(missing) - sumFetchedBytes(this.#parts.places.staging));
  }

  /** @returns in the order in which they are loaded */
  async #fill(missing: readonly PinnedPackage[]): Promise<InstalledFile[]> {
    if (this.#parts.request.from === undefined) await this.#fetch(missing);
    const files: InstalledFile[] = [];
    for (const pinned of this.#packages) {
      if (missing.includes(pinned)) files.push(...(await this.#unpack(pinned)));
      else for (const { name } of pinned.members) files.push(await this.#takeOver(name));
    }
    return files;
  }

  async #fetch(missing: readonly PinnedPackage[]): Promise<void> {
    const { request, watcher, around, places } = this.#parts;
    const { openPackageIndex } = await import('../../hub/package-index.ts');
    const settings = { ...around.index, index: request.index ?? around.index.index };
    const index = openPackageIndex(settings, around.pause === undefined ? {} : { pause: around.pause });
    try {
      await index.take(missing, {
        folder: places.staging,
        signal: watcher.signal,
        onProgress: (progress) => watcher.tell({ kind: 'taking', progress }),
      });
    } finally {
      await index.close();
    }
  }

  async #unpack(pinned: PinnedPackage): Promise<InstalledFile[]> {
    const { request, watcher, around, places } = this.#parts;
    const source = await this.#open(pinned);
    const { takesUnpinned } = request;
    const parts = { folder: places.draft, version: around.pins.version, takesUnpinned, signal: watcher.signal };
    const files: InstalledFile[] = [];
    try {
      for (const [place, member] of pinned.members.entries()) {
        const library = source.libraries[place];
        if (library === undefined) throw new Error(`no bytes of ${member.name}`);
        watcher.tell({ kind: 'step', text: `Unpacking ${member.name}` });
        files.push(await writeLibrary(library, member, parts));
      }
      return files;
    } finally {
      source.close();
    }
  }

  #open(pinned: PinnedPackage): Promise<LibrarySource> {
    const { request, places } = this.#parts;
    return request.from === undefined
      ? openArchive(join(places.staging, pinned.file), pinned)
      : openLocalSource(request.from, pinned);
  }

  /** Of an earlier install: the same file on disk, read once more. */
  async #takeOver(name: string): Promise<InstalledFile> {
    const present = this.#present.get(name);
    if (present === undefined) throw new Error(`no earlier ${name}`);
    const { file, folder } = present;
    const place = join(this.#parts.places.draft, name);
    await link(join(folder, name), place);
    if ((await sumOfFile(place)) !== file.sha256)
      throw new StartError(
        `${name} in ${folder} has other bytes than were installed: add ${file.isLibrary ? '--libraries --replace' : '--replace'}.`,
      );
    return file;
  }

  async #seal(files: readonly InstalledFile[]): Promise<void> {
    const { draft } = this.#parts.places;
    const record: CudaRecord = { format: 1, version: this.#parts.around.pins.version, files };
    const path = join(draft, RECORD_FILE);
    await writeFile(path, `${JSON.stringify(record, null, 2)}\n`);
    linkRuntime(draft, findRuntimeFile(this.#parts.around.runtime));
    await syncPath(path);
    await syncPath(draft);
  }

  #end(outcome: GpuInstall['outcome'], files: readonly InstalledFile[]): GpuInstall {
    const { around, places } = this.#parts;
    const libraries = files.filter(({ isLibrary }) => isLibrary).map(({ name }) => join(places.folder, name));
    const lacks = outcome === 'declined' ? [] : findCudaLacks(libraries);
    return {
      outcome,
      version: around.pins.version,
      folder: places.folder,
      files: files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })),
      lacks: lacks.map(({ what, remedy }) => `${what}: ${remedy}`),
      former: listFormerVersions(around.gpuDir, around.pins.version),
    };
  }
}

/** As pip takes it. */
function nameOf({ package: name, file }: PinnedPackage): string {
  return `${name}==${file.split('-')[1]}`;
}

function markAsLibraries(pinned: PinnedPackage): PinnedPackage {
  return { ...pinned, members: pinned.members.map((member) => ({ ...member, isLibrary: true })) };
}

function sumBytes(parts: readonly { readonly bytes: number }[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}
