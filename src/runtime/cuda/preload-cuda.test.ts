// The link that puts the runtime library beside its provider.

import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { linkRuntime, preloadCuda } from './preload-cuda.ts';

const root = mkdtempSync(join(tmpdir(), 'umpire-preload-'));
afterAll(() => rmSync(root, { recursive: true }));

function makeFolder(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
}

it.skipIf(process.platform === 'win32')('is made, kept, and made anew where it leads elsewhere', () => {
  const folder = makeFolder('gpu');
  const [first, second] = ['a.so', 'b.so'].map((name) => join(root, name));
  for (const file of [first, second]) writeFileSync(file ?? '', '');
  const link = linkRuntime(folder, first);
  expect(readlinkSync(link)).toBe(first);
  expect(linkRuntime(folder, first)).toBe(link);
  expect(readlinkSync(linkRuntime(folder, second))).toBe(second);
  rmSync(link);
  symlinkSync(join(root, 'gone.so'), link);
  expect(readlinkSync(linkRuntime(folder, second))).toBe(second);
  expect(readdirSync(folder)).toEqual(['libonnxruntime.so.1']);
});

it.skipIf(process.platform === 'win32')('that cannot be made is told, and leaves CUDA alone', () => {
  const folder = join(root, 'not-there');
  const found = { provider: join(folder, 'p.so'), folder, libraries: [] };
  expect(preloadCuda(found)).toEqual({
    reason: expect.stringMatching(/leads to no runtime library of this program, and cannot be made anew|there is no/),
    isAbsent: false,
  });
});

it('is not needed by what lies beside the library, or is not there', () => {
  const beside = { provider: 'p.so', folder: undefined, libraries: [] };
  expect(preloadCuda(beside)).toBe(beside);
  const absent = { reason: 'none', isAbsent: true };
  expect(preloadCuda(absent)).toBe(absent);
});
