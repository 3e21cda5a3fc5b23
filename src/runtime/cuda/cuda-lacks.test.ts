// What is said to be missing, on systems that lack one thing or another.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type CudaSystem, explainCuda, findCudaLacks, hasDriver } from './cuda-lacks.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-lacks-'));
afterAll(() => rmSync(folder, { recursive: true }));

const CUDA = ['libcudart.so.13', 'libcublasLt.so.13', 'libcublas.so.13', 'libcurand.so.10', 'libnvrtc.so.13'];
const WHOLE = ['libcuda.so.1', ...CUDA, 'libcudnn.so.9'];
const FOUND = { provider: '/gpu/libonnxruntime_providers_cuda.so', folder: '/gpu', libraries: [] };

/** @param loadable what the loader can load */
function systemWith(loadable: readonly string[], rest: Partial<CudaSystem> = {}): CudaSystem {
  return {
    findLoadFault: (library) => (loadable.includes(library) ? undefined : `${library}: cannot open`),
    driverVersion: '580.65.06',
    folders: [],
    ...rest,
  };
}

describe('a system', () => {
  it('that has everything lacks nothing, and a provider that does not load all the same says why', () => {
    expect(findCudaLacks([], systemWith(WHOLE))).toEqual([]);
    expect(explainCuda(FOUND, systemWith([...WHOLE, FOUND.provider]))).toBeUndefined();
    expect(explainCuda(FOUND, systemWith(WHOLE))).toBe(`${FOUND.provider}: cannot open`);
  });

  it('without a driver is told to install one', () => {
    const system = systemWith(WHOLE.slice(1), { driverVersion: undefined });
    expect(findCudaLacks([], system)).toEqual([
      { what: 'no NVIDIA driver (libcuda.so.1)', remedy: expect.stringContaining('driver 580 or newer') },
    ]);
    expect(hasDriver(system)).toBe(false);
    expect(hasDriver(systemWith(WHOLE, { driverVersion: undefined }))).toBe(true);
  });

  it('with an old driver is told so', () => {
    const [lack, ...others] = findCudaLacks([], systemWith(WHOLE, { driverVersion: '550.54.14' }));
    expect(lack?.what).toBe('the NVIDIA driver 550.54.14 is too old for CUDA 13');
    expect(others).toEqual([]);
  });

  it('without libraries is told which, and what brings them', () => {
    const system = systemWith(WHOLE.filter((name) => !/cublas|cudnn/.test(name)));
    expect(findCudaLacks([], system)).toEqual([
      {
        what: 'no CUDA 13 (libcublasLt.so.13, libcublas.so.13)',
        remedy: "`umpire gpu install --libraries` brings it, or install NVIDIA's CUDA 13",
      },
      {
        what: 'no cuDNN 9 (libcudnn.so.9)',
        remedy: "`umpire gpu install --libraries` brings it, or install NVIDIA's cuDNN 9",
      },
    ]);
    expect(explainCuda(FOUND, system)).toContain('no cuDNN 9 (libcudnn.so.9): `umpire gpu install --libraries`');
  });

  it('whose libraries lie where the loader does not look is told the library path', () => {
    for (const file of CUDA) writeFileSync(join(folder, file), '');
    const system = systemWith(['libcuda.so.1', 'libcudnn.so.9'], { folders: ['/nowhere', folder] });
    const [lack, ...others] = findCudaLacks([], system);
    expect(lack?.what).toContain('in the library path');
    expect(lack?.remedy).toContain(`it lies in ${folder}: put that into LD_LIBRARY_PATH`);
    expect(others).toEqual([]);
  });

  it('needs none of what was installed with the provider', () => {
    const installed = WHOLE.slice(1).map((name) => `/gpu/${name}`);
    expect(findCudaLacks(installed, systemWith(['libcuda.so.1', ...installed]))).toEqual([]);
  });
});
