import { expect, it } from 'vitest';
import { findCudaLacks } from '../../runtime/cuda/cuda-lacks.ts';
import { findRuntimeLibrary } from '../../runtime/cuda/find-cuda.ts';
import { LIBRARY_PACKAGES, PINNED_VERSION, PROVIDER_PACKAGES } from './pinned-packages.ts';

const names = LIBRARY_PACKAGES.flatMap(({ members }) => members.map(({ name }) => name));

it('are of the version of the runtime library that is installed', () => {
  expect(PINNED_VERSION).toBe(findRuntimeLibrary().version);
  expect(PROVIDER_PACKAGES.every(({ file }) => file.includes(`-${PINNED_VERSION}-`))).toBe(true);
});

it('have sums, and no library twice', () => {
  const packages = [...PROVIDER_PACKAGES, ...LIBRARY_PACKAGES];
  for (const { sha256 } of packages.flatMap((each) => [each, ...each.members]))
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(names).size).toBe(names.length);
});

it('leave nothing to be missed but the driver', () => {
  const system = {
    findLoadFault: (library: string) => (library.startsWith('/gpu/') ? undefined : 'not there'),
    driverVersion: undefined,
    folders: [],
  };
  const lacks = findCudaLacks(
    names.map((name) => `/gpu/${name}`),
    system,
  );
  expect(lacks.map(({ what }) => what)).toEqual(['no NVIDIA driver (libcuda.so.1)']);
});
