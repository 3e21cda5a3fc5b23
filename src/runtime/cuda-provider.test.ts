import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCudaProvider } from './cuda-provider.ts';

const FILE = 'libonnxruntime_providers_cuda.so';

let packageFolder: string;
beforeEach(() => {
  packageFolder = mkdtempSync(join(tmpdir(), 'umpire-provider-'));
});
afterEach(() => rmSync(packageFolder, { recursive: true }));

function addProvider(platform: string, arch: string): string {
  const folder = join(packageFolder, 'bin', 'napi-v6', platform, arch);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, FILE), '');
  return join(folder, FILE);
}

describe('the CUDA provider', () => {
  it('is found beside the binding of Linux on x64', () => {
    const path = addProvider('linux', 'x64');
    expect(findCudaProvider({ platform: 'linux', arch: 'x64', packageFolder })).toBe(path);
  });

  it('is absent where the folder of the binding does not hold it', () => {
    mkdirSync(join(packageFolder, 'bin', 'napi-v6', 'linux', 'x64'), { recursive: true });
    expect(findCudaProvider({ platform: 'linux', arch: 'x64', packageFolder })).toBeUndefined();
    expect(findCudaProvider({ platform: 'linux', arch: 'x64', packageFolder: join(packageFolder, 'no') })).toBe(
      undefined,
    );
  });

  it.each([
    ['win32', 'x64'],
    ['darwin', 'arm64'],
    ['linux', 'arm64'],
  ])('is never looked for on %s %s', (platform, arch) => {
    addProvider('linux', 'x64');
    addProvider(platform, arch);
    expect(findCudaProvider({ platform, arch, packageFolder })).toBeUndefined();
  });

  it('is not in the package as npm brings it', () => expect(findCudaProvider()).toBeUndefined());
});
