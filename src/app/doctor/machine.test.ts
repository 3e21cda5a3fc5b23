// What is said of processors and of memory that this machine does not have.

import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { lookAtMemory, lookAtProcessor } from './machine.ts';

const MIB = 2 ** 20;

describe.runIf(process.arch === 'x64')('a processor', () => {
  it.each([
    ['avx avx2 avx512f avx512_vnni', 'ok', 'AVX-512 with VNNI'],
    ['avx avx2 avx_vnni', 'ok', 'AVX2 with VNNI'],
    ['avx avx2 avx512f', 'note', 'AVX-512 without VNNI'],
    ['avx avx2', 'note', 'no AVX-512 and no VNNI'],
    ['sse4_2', 'warn', 'no AVX2'],
  ])('with %s is %s', (features, state, text) => {
    const found = lookAtProcessor(new Set(features.split(' ')));
    expect(found).toMatchObject({ state, subject: 'cpu', text: expect.stringContaining(text) });
    expect(found.remedy === undefined).toBe(state !== 'warn');
  });

  it('that the system does not describe is a note', () => {
    expect(lookAtProcessor(undefined).subject).toBe('cpu');
  });
});

describe('memory', () => {
  const { config } = loadConfig({
    flags: { 'engine-workers': '4', 'engine-state-cache-bytes': String(256 * MIB) },
    env: {},
  });

  it('that holds what the settings allow is enough', () => {
    expect(lookAtMemory(config, 4096 * MIB)).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(/^4096 MiB available; /),
    });
  });

  it('that is less is told with what to change', () => {
    const found = lookAtMemory(config, 1024 * MIB);
    expect(found).toMatchObject({ state: 'warn', remedy: expect.stringContaining('engine.workers') });
    expect(found.text).toMatch(/may use 1[56]\d\d MiB$/);
  });
});
