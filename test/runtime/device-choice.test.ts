// Devices against real graphs and the real library, which has no provider of CUDA: what is chosen, and what is said.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseDevice, type DeviceRequest } from '../../src/runtime/device-choice.ts';
import type { ModelFolder } from '../../src/runtime/model-folder/manifest.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { deviceOfModel } from '../../src/runtime/model-folder/precision.ts';
import { tryGraph } from '../../src/runtime/session.ts';
import { StartError } from '../../src/runtime/start-error.ts';

/** With fp32 graphs. */
let floats: ModelFolder;
/** The same without. */
let integers: ModelFolder;

beforeAll(async () => {
  floats = await readModelFolder(fileURLToPath(new URL('../fixtures/tiny-decision', import.meta.url)));
  const { manifest } = floats;
  const graphs = { int8: manifest.graphs['fp32'] ?? {} };
  integers = { ...floats, manifest: { ...manifest, id: 'integers', graphs } };
});

/** Under the name of the provider lies something that cannot be loaded. */
const provider = join(mkdtempSync(join(tmpdir(), 'umpire-device-')), 'libonnxruntime_providers_cuda.so');
writeFileSync(provider, 'no library');
afterAll(() => rmSync(dirname(provider), { recursive: true }));

const choose = (changes: Partial<DeviceRequest>) =>
  chooseDevice({
    requested: 'auto',
    allowFallback: false,
    models: [floats],
    cuda: { provider, folder: undefined, libraries: [] },
    tryGraph,
    ...changes,
  });

/** As on a machine where CUDA works. */
const works = async (): Promise<void> => undefined;

describe('device auto', () => {
  it('is the CPU without a provider, and nothing is tried', async () => {
    const tried: string[] = [];
    const cuda = { reason: 'there is no provider', isAbsent: true };
    const { device, note } = await choose({ cuda, tryGraph: async (path) => void tried.push(path) });
    expect(device).toBe('cpu');
    expect(note).toMatch(
      /^device: cpu \(auto: (no NVIDIA driver is here|an NVIDIA driver is here, but there is no provider)\)$/,
    );
    expect(tried).toEqual([]);
  });

  it('is the CPU where the provider is of no use, and warns', async () => {
    const cuda = { reason: 'the provider is of version 1.29.0', isAbsent: false };
    expect(await choose({ cuda })).toEqual({
      device: 'cpu',
      warning: 'device: cpu (auto: CUDA cannot be used: the provider is of version 1.29.0)',
    });
  });

  it.runIf(process.platform === 'linux')(
    'tries CUDA where there is a provider, and tells why it could not be loaded',
    async () => {
      const { device, warning } = await choose({});
      expect(device).toBe('cpu');
      expect(warning).toMatch(/^device: cpu \(auto: CUDA cannot be used: .+/);
      // What the system lacks comes before what the loader says of a file that is no library.
      expect(warning).toMatch(new RegExp(`NVIDIA driver|CUDA 13|cuDNN 9|${provider}`));
    },
  );

  it('is CUDA where that works', async () => {
    expect(await choose({ tryGraph: works })).toEqual({ device: 'cuda', note: 'device: cuda (auto: it works)' });
  });

  it('leaves models without fp16 and fp32 graphs to the CPU, and says which', async () => {
    const { device, note } = await choose({ models: [integers, floats], tryGraph: works });
    expect(note).toBe('device: cuda (auto: it works; no fp16 or fp32 graphs in integers; cpu for these)');
    expect([integers, floats].map((folder) => deviceOfModel(folder, device))).toEqual(['cpu', 'cuda']);
  });

  it('is the CPU where no model has such graphs', async () => {
    const { device, note } = await choose({ models: [integers], tryGraph: works });
    expect(device).toBe('cpu');
    expect(note).toContain('no model has fp16 or fp32 graphs');
  });
});

describe('a named device', () => {
  it('is refused where a model has no graphs for it', async () => {
    const refused = choose({ requested: 'cuda', models: [floats, integers], tryGraph: works });
    await expect(refused).rejects.toThrow(StartError);
    await expect(refused).rejects.toThrow('device cuda cannot be used: no fp16 or fp32 graphs in integers');
  });

  it('says what is missing in the words of the provider', async () => {
    const cuda = { reason: 'no CUDA provider is installed', isAbsent: true };
    const refused = choose({ requested: 'cuda', cuda });
    await expect(refused).rejects.toThrow('device cuda cannot be used: no CUDA provider is installed');
  });

  it('is used by the models that have, if the others may run on the CPU', async () => {
    const request = { requested: 'cuda', allowFallback: true, models: [floats, integers], tryGraph: works };
    const { device, warning } = await choose(request);
    expect(device).toBe('cuda');
    expect(warning).toBe('device cuda: no fp16 or fp32 graphs in integers; cpu for these');
  });

  it('is replaced by the CPU where no model has, if that is allowed', async () => {
    const { device, warning } = await choose({ requested: 'cuda', allowFallback: true, models: [integers] });
    expect(device).toBe('cpu');
    expect(warning).toContain('no fp16 or fp32 graphs in integers; cpu instead');
  });

  it('that is the CPU needs no words', async () => {
    expect(await choose({ requested: 'cpu' })).toEqual({ device: 'cpu' });
  });
});
