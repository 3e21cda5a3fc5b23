// `umpire gpu install` as it is typed: what it asks for, what it shows, when it asks.

import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GpuInstall, GpuRequest } from '../../src/cli/gpu-installer.ts';
import type { Program } from '../../src/cli/program.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import { program } from './program-double.ts';

const INSTALLED: GpuInstall = {
  outcome: 'installed',
  version: '1.30.0',
  folder: '/data/gpu/onnxruntime-1.30.0',
  files: [{ name: 'libprovider.so', bytes: 272_000_000, sha256: 'ab' }],
  lacks: ['no NVIDIA driver (libcuda.so.1): install it'],
  former: [{ version: '1.29.0', folder: '/data/gpu/onnxruntime-1.29.0', bytes: 1_600_000_000 }],
};
const PLAN = {
  version: '1.30.0',
  folder: INSTALLED.folder,
  source: 'http://index.example/simple',
  packages: [{ name: 'onnxruntime-gpu==1.30.0', licence: 'MIT', bytes: 247_000_000 }],
  bytes: 272_000_000,
};

async function run(args: readonly string[], parts: Partial<Program> = {}) {
  const requests: GpuRequest[] = [];
  const { whole, said } = program({
    openGpuInstaller: async () => ({
      install: async (request, watcher) => {
        requests.push(request);
        return (await watcher.confirm(PLAN)) ? INSTALLED : { ...INSTALLED, outcome: 'declined', files: [], lacks: [] };
      },
    }),
    ...parts,
  });
  const code = await runCommand(['gpu', 'install', ...args], whole);
  return { code, requests, ...said };
}

describe('umpire gpu install', () => {
  it('shows size and licence, then what was done and what is still missing', async () => {
    const { code, out, error, requests } = await run(['--yes', '--libraries']);
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toMatch(/^size +247 MB packed, 272 MB installed$/m);
    expect(out).toMatch(/^onnxruntime-gpu==1\.30\.0 +247 MB +MIT$/m);
    expect(out).toContain('Installed: /data/gpu/onnxruntime-1.30.0');
    expect(out).toContain('CUDA cannot be used yet: no NVIDIA driver (libcuda.so.1): install it.');
    expect(out).toMatch(/go back to it: \/data\/gpu\/onnxruntime-1\.29\.0\. Deleting it gives back 1\.60? GB\.\n$/);
    expect(requests).toEqual([
      { from: undefined, index: undefined, withLibraries: true, takesUnpinned: false, isAnew: false },
    ]);
  });

  it('asks on a terminal, and takes a no', async () => {
    const typed = (answer: string) => run([], { isTerminal: true, readLine: async () => answer });
    expect(await typed('no')).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was installed.') });
    expect(await typed('yes')).toMatchObject({ code: 0, out: expect.stringContaining('Installed: ') });
  });

  it('asks nobody where nobody sits', async () => {
    expect(await run([])).toMatchObject({ code: 2, error: expect.stringContaining('Add --yes') });
    expect(await run(['--json'], { isTerminal: true })).toMatchObject({ code: 2 });
  });

  it('is one object for programs', async () => {
    const { out } = await run(['--yes', '--json', '--from', 'wheels', '--unpinned', '--replace']);
    expect(JSON.parse(out)).toEqual(INSTALLED);
    const { requests } = await run(['--yes', '--from', 'wheels', '--unpinned']);
    expect(requests).toMatchObject([{ from: resolve('wheels'), takesUnpinned: true }]);
  });

  it.each([
    [['--from', 'wheels', '--index', 'http://index.example'], 'leave out --index'],
    [['--unpinned'], '--unpinned is for what --from gives'],
    [['cuda'], 'nothing to do with "cuda"'],
  ])('refuses %j', async (args, words) => {
    expect(await run(args)).toMatchObject({ code: 2, error: expect.stringContaining(words), requests: [] });
  });
});
