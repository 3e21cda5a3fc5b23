// Installs that end before their time: killed while libraries are unpacked, or without room on the disk; and what the next one
// makes of it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GpuSurroundings } from '../../../src/app/gpu/install-gpu.ts';
import { findCuda } from '../../../src/runtime/cuda/find-cuda.ts';
import { ScratchFolders } from '../../hub/model-tree.ts';
import { fill, mayMount, onSmallDisk } from '../../hub/small-disk.ts';
import { childEnvironment } from '../../process/server-process.ts';
import { type FakeIndex, startFakeIndex } from './fake-index.ts';
import { libraryOf, pinOf, zipOf } from './library-files.ts';

const VERSION = '1.30.0';
const CUDA = 'libonnxruntime_providers_cuda.so';
const SHARED = 'libonnxruntime_providers_shared.so';
const WHEEL = `onnxruntime_gpu-${VERSION}-cp311-cp311-linux_x86_64.whl`;
const FOLDER = `onnxruntime-${VERSION}`;

const provider = { [SHARED]: libraryOf('', 1, 3000), [CUDA]: libraryOf(VERSION, 2, 8_000_000) };
const wheel = zipOf(provider);

const scratch = new ScratchFolders();
const ended: (() => Promise<void>)[] = [];
let index: FakeIndex;
let around: GpuSurroundings;
beforeEach(async () => {
  index = await startFakeIndex({ 'onnxruntime-gpu': { [WHEEL]: wheel } });
  const packageFolder = scratch.make({ 'bin/napi-v6/linux/x64/libonnxruntime.so.1': 'the runtime library' });
  around = {
    gpuDir: scratch.make(),
    runtime: { platform: 'linux', arch: 'x64', version: VERSION, packageFolder },
    pins: { version: VERSION, provider: [pinOf('onnxruntime-gpu', WHEEL, wheel, provider)], libraries: [] },
    index: {
      index: index.address,
      answerTimeoutMs: 10_000,
      stallTimeoutMs: 10_000,
      proxies: { http: '', https: '', none: '' },
    },
  };
});
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
  await index.close();
});
afterAll(() => scratch.dispose());

interface News {
  readonly step?: string;
  readonly outcome?: string;
  readonly failure?: string;
}

/** The process of `installing-process.ts`. */
class Installer {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** @param before a command that starts what follows it */
  constructor(before: readonly string[] = []) {
    const script = join(import.meta.dirname, 'installing-process.ts');
    const [command = '', ...args] = [...before, process.execPath, script, JSON.stringify(around)];
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: childEnvironment({}) });
    const { stdout } = this.child;
    if (stdout === null) throw new Error('It has no output.');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    ended.push(() => this.kill());
  }

  /** Lets it begin, or go on where it waits. */
  goOn(): void {
    this.child.stdin?.write('\n');
  }

  /** What it says next. @throws when it ends before */
  async next(): Promise<News> {
    const line = await this.#lines.next();
    if (line.done === true) throw new Error('It ended before it said anything.');
    return JSON.parse(line.value) as News;
  }

  /** Up to where it has unpacked the first library and not begun the second. */
  async unpackOne(): Promise<void> {
    this.goOn();
    expect(await this.next()).toEqual({ step: `Unpacking ${SHARED}` });
    this.goOn();
    expect(await this.next()).toEqual({ step: `Unpacking ${CUDA}` });
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}

function expectInstalled(gpuDir: string): void {
  for (const [name, bytes] of Object.entries(provider))
    expect(readFileSync(join(gpuDir, FOLDER, name)).equals(bytes), name).toBe(true);
  expect(readdirSync(gpuDir).sort()).toEqual(['.lock', FOLDER]);
}

describe.skipIf(process.platform === 'win32')('an install that is killed while it unpacks', () => {
  it('leaves nothing that a start would take, and the next one needs no network', async () => {
    const { gpuDir, runtime } = around;
    const first = new Installer();
    await first.unpackOne();
    await first.kill();
    expect(readdirSync(join(gpuDir, '.draft'))).toEqual([SHARED]);
    expect(existsSync(join(gpuDir, FOLDER))).toBe(false);
    expect(findCuda(gpuDir, runtime)).toMatchObject({ isAbsent: true });

    const second = new Installer();
    await second.unpackOne();
    second.goOn();
    expect(await second.next()).toEqual({ outcome: 'installed' });
    expectInstalled(gpuDir);
    expect(index.sentBytes).toBe(wheel.length);
  });

  it('leaves the install that was there', async () => {
    const { gpuDir, runtime } = around;
    const first = new Installer();
    await first.unpackOne();
    first.goOn();
    expect(await first.next()).toEqual({ outcome: 'installed' });
    // Another one: it has to be repaired.
    writeFileSync(join(gpuDir, FOLDER, SHARED), '');
    const second = new Installer();
    await second.unpackOne();
    await second.kill();
    expect(readFileSync(join(gpuDir, FOLDER, CUDA)).equals(provider[CUDA])).toBe(true);
    expect(findCuda(gpuDir, runtime)).toMatchObject({ reason: expect.stringContaining(SHARED), isAbsent: false });
  });
});

/** Room for the wheel, its libraries, and what is left alone. */
const DISK_BYTES = 96 * 1024 * 1024;

describe.skipIf(!mayMount('an install onto a full disk'))('a disk that is full while libraries are unpacked', () => {
  it('is told, leaves nothing half, and is forgotten when there is room again', async () => {
    const { gpuDir } = around;
    const installer = new Installer(onSmallDisk(gpuDir, DISK_BYTES));
    await installer.unpackOne();
    // Only the process sees its disk; others through its eyes.
    const seen = join(`/proc/${installer.child.pid}/root`, gpuDir);
    fill(join(seen, 'filler'));
    installer.goOn();
    const full = `There is no room left in ${gpuDir}. What was taken stays there for the next try.`;
    expect(await installer.next()).toEqual({ failure: full });
    expect(readdirSync(seen).sort()).toEqual(['.fetched', '.lock', 'filler']);
    expect(statSync(join(seen, '.fetched', WHEEL)).size).toBe(wheel.length);

    installer.goOn();
    expect((await installer.next()).failure).toMatch(/has room for [\d.]+ MB; 8 MB are still to come/);

    rmSync(join(seen, 'filler'));
    await installer.unpackOne();
    installer.goOn();
    expect(await installer.next()).toEqual({ outcome: 'installed' });
    expectInstalled(seen);
    expect(index.sentBytes).toBe(wheel.length);
  });
});
