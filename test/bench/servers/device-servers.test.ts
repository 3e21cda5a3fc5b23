// A bench of a device that is not there says in words what is missing, measures nothing and fails; the processor is a device, too.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DeviceServers, findDeviceLack, MissingDevice, requireDevice } from '../../../bench/servers/device-servers.ts';
import { childEnvironment, ROOT } from '../../process/server-process.ts';

const nowhere = mkdtempSync(join(tmpdir(), 'umpire-no-gpu-'));
afterAll(() => rmSync(nowhere, { recursive: true }));

const hasCuda = findDeviceLack('cuda') === undefined;
if (hasCuda) process.stderr.write('CUDA is here: what the bench says without it is not tried.\n');

describe('a device', () => {
  it.skipIf(hasCuda)('that cannot be used ends the bench with what is missing', () => {
    const env = childEnvironment({ UMPIRE_ENGINE_GPU_DIR: nowhere });
    const args = [join(ROOT, 'bench', 'run.ts'), '--device', 'cuda', '--noisy'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^Nothing was measured: CUDA cannot be used here: .*(umpire gpu install|driver|CUDA 13)/);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it('has to be named', () => {
    expect(() => requireDevice('auto')).toThrow(MissingDevice);
    expect(() => requireDevice('--quick')).toThrow('name the device');
    expect(() => requireDevice('cpu')).not.toThrow();
  });

  it('is the processor with runs that rows share, where that is asked for', () => {
    const { device, processor } = new DeviceServers('cpu', nowhere).beside();
    expect(device.settings).toMatchObject({ UMPIRE_ENGINE_DEVICE: 'cpu', UMPIRE_ENGINE_BATCH_ON_CPU: 'true' });
    expect(processor.settings).not.toHaveProperty('UMPIRE_ENGINE_BATCH_ON_CPU');
    expect(new DeviceServers('cuda', nowhere).beside().device.settings).toMatchObject({ UMPIRE_ENGINE_DEVICE: 'cuda' });
  });

  it('runs more and fewer tokens at once, from a row by itself on', () => {
    const servers = new DeviceServers('cpu', nowhere).byBatch([1024, 16_384]);
    expect(Object.keys(servers)).toEqual(['a row by itself', '1024 tokens', '16384 tokens (default)']);
    expect(servers['a row by itself']?.settings).toMatchObject({ UMPIRE_ENGINE_BATCH_EXACT: 'true' });
    expect(servers['1024 tokens']?.settings).toMatchObject({ UMPIRE_ENGINE_BATCH_TOKENS: '1024' });
  });
});
