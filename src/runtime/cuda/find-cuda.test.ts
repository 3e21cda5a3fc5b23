import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CudaRecord, cudaFolderOf, RECORD_FILE } from './cuda-folder.ts';
import { findCuda, type RuntimeLibrary } from './find-cuda.ts';

const FILE = 'libonnxruntime_providers_cuda.so';
const VERSION = '1.30.0';

let root: string;
let gpuDir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'umpire-provider-'));
  gpuDir = join(root, 'gpu');
});
afterEach(() => rmSync(root, { recursive: true }));

function runtimeOn(platform: string, arch: string): RuntimeLibrary {
  return { platform, arch, version: VERSION, packageFolder: root };
}

const LINUX = () => runtimeOn('linux', 'x64');

function addNeighbour(platform: string, arch: string): string {
  const folder = join(root, 'bin', 'napi-v6', platform, arch);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, FILE), '');
  return join(folder, FILE);
}

/** As `umpire gpu install` leaves it. */
function install(version: string): string {
  const folder = cudaFolderOf(gpuDir, version);
  mkdirSync(folder, { recursive: true });
  const files = [
    { name: 'libfirst.so.13', bytes: 3, sha256: '', isLibrary: true },
    { name: FILE, bytes: 5, sha256: '' },
  ];
  for (const { name, bytes } of files) writeFileSync(join(folder, name), 'x'.repeat(bytes));
  const record: CudaRecord = { format: 1, version, files };
  writeFileSync(join(folder, RECORD_FILE), JSON.stringify(record));
  return folder;
}

describe('the CUDA provider', () => {
  it('is found beside the binding of Linux on x64', () => {
    const provider = addNeighbour('linux', 'x64');
    expect(findCuda(undefined, LINUX())).toEqual({ provider, folder: undefined, libraries: [] });
    expect(findCuda(gpuDir, LINUX())).toMatchObject({ provider });
  });

  it('is found where it was installed, before its neighbours', () => {
    addNeighbour('linux', 'x64');
    const folder = install(VERSION);
    expect(findCuda(gpuDir, LINUX())).toEqual({
      provider: join(folder, FILE),
      folder,
      libraries: [join(folder, 'libfirst.so.13')],
    });
  });

  it('is absent where nothing was installed, and says what brings it', () => {
    mkdirSync(join(root, 'bin', 'napi-v6', 'linux', 'x64'), { recursive: true });
    const absent = { reason: expect.stringContaining('`umpire gpu install`'), isAbsent: true };
    expect(findCuda(gpuDir, LINUX())).toEqual(absent);
    mkdirSync(gpuDir);
    expect(findCuda(gpuDir, LINUX())).toEqual(absent);
    expect(findCuda(gpuDir, { ...LINUX(), packageFolder: join(root, 'no') })).toEqual(absent);
  });

  it('of another version is of no use, and says so', () => {
    install('1.29.1');
    expect(findCuda(gpuDir, LINUX())).toEqual({
      reason: `the CUDA provider in ${gpuDir} is of version 1.29.1, the runtime library of 1.30.0: run \`umpire gpu install\` again`,
      isAbsent: false,
    });
  });

  it('that was cut off or lost is of no use, and says which file', () => {
    const folder = install(VERSION);
    truncateSync(join(folder, FILE), 4);
    expect(findCuda(gpuDir, LINUX())).toMatchObject({
      reason: expect.stringContaining(`${FILE} in ${folder} has 4 bytes instead of 5`),
    });
    rmSync(join(folder, FILE));
    expect(findCuda(gpuDir, LINUX())).toMatchObject({ reason: expect.stringContaining(`${FILE} is missing in`) });
    rmSync(join(folder, RECORD_FILE));
    expect(findCuda(gpuDir, LINUX())).toMatchObject({ reason: expect.stringContaining('not as it was installed') });
  });

  it.each([
    ['win32', 'x64'],
    ['darwin', 'arm64'],
    ['linux', 'arm64'],
  ])('is never looked for on %s %s', (platform, arch) => {
    addNeighbour('linux', 'x64');
    addNeighbour(platform, arch);
    install(VERSION);
    expect(findCuda(gpuDir, runtimeOn(platform, arch))).toMatchObject({ isAbsent: true });
  });

  it('is not in the package as npm brings it', () => {
    expect(findCuda(undefined)).toMatchObject({ isAbsent: true });
  });
});
