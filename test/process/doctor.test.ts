// `umpire doctor` as its users run it: nothing wrong, everything wrong, beside a running server; and it changes nothing.

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type CommandRun, runUmpire } from './run-umpire.ts';
import { type Environment, ROOT, ServerProcess } from './server-process.ts';

const TINY_MODEL = join(ROOT, 'test', 'fixtures', 'tiny-embedding');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-doctor-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

async function doctor(env: Environment, args: readonly string[] = []): Promise<CommandRun> {
  const settings = { UMPIRE_MODELS: TINY_MODEL, UMPIRE_DATA_DIR: join(folder, 'data'), ...env };
  return await runUmpire(['doctor', ...args], { cwd: folder, env: settings });
}

describe('doctor', () => {
  it('finds nothing wrong on a machine that is ready, and leaves nothing behind', async () => {
    const { code, out, error } = await doctor({ UMPIRE_PORT: '0' });
    expect({ code, error }).toEqual({ code: 0, error: '' });
    for (const line of [
      /^ok +node +\d+\.\d+\.\d+ on /m,
      /^ok +configuration +valid; 3 settings are not the default$/m,
      /^ok +address +http:\/\/127\.0\.0\.1:\d+ is free$/m,
      /^ok +data folder +.* is not there yet; the first start makes it$/m,
      /^ok +store +SQLite; the first start makes it$/m,
      /^(ok|note) +tokenizer +(native|JavaScript)/m,
      /^ok +model [\w-]+ +embedding, sha256:[0-9a-f]{12}, all checksums right$/m,
      /^(ok|note|warn) +cpu +.*\d+ cores? for this process; /m,
      /^(ok|warn) +memory +\d+ MiB available; /m,
      /^note +clock +\d{4}-\d\d-\d\dT.* there is no database server and no upstream to compare it with$/m,
      /^ok +model [\w-]+ +answers its golden cases as stored, on cpu$/m,
      /^No fault(, \d+ warnings?| found)\.$/m,
    ])
      expect(out).toMatch(line);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('tells all that is wrong at once, with exit code 1', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const broken = join(folder, 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'model.json'), '{}');
    const data = join(folder, 'data');
    mkdirSync(data);
    writeFileSync(join(data, 'umpire.sqlite'), 'this is no database, whatever its name may say'.repeat(100));
    chmodSync(data, 0o777);
    const upstream = { name: 'gone', baseUrl: 'http://127.0.0.1:1/v1', models: [{ id: 'm' }] };
    const aliases = { newest: 'nowhere' };
    const { code, out } = await doctor({
      UMPIRE_PORT: String(port),
      UMPIRE_MODELS: broken,
      UMPIRE_UPSTREAMS: JSON.stringify([upstream]),
      UMPIRE_ALIASES: JSON.stringify(aliases),
    });
    expect(code).toBe(1);
    expect(out).toMatch(/^fail +address +Cannot listen on .*another program uses it/m);
    if (process.platform === 'linux')
      expect(out).toMatch(new RegExp(`^ +→ it is .+ \\(process ${process.pid}\\)$`, 'm'));
    expect(out).toMatch(/^warn +data folder +Every user of this machine may change/m);
    expect(out).toMatch(/^fail +store +.*umpire\.sqlite cannot be used: /m);
    expect(out).toMatch(/^fail +models +model folder .*broken/m);
    expect(out).toMatch(/^fail +upstream gone +cannot be reached: ECONNREFUSED$/m);
    expect(out).toMatch(/^fail +models +.*nowhere/m);
    expect(out).toMatch(/^5 faults, \d warnings?: a server would not work as configured\.$/m);
  });

  it('tells the faults of a configuration that cannot be read', async () => {
    const { code, out } = await doctor({ UMPIRE_PROT: '1', UMPIRE_LOG_LEVEL: 'loud' });
    expect(code).toBe(1);
    expect(out).toMatch(/^fail +configuration +UMPIRE_PROT in the environment: no such setting/m);
    expect(out).toMatch(/^fail +configuration +log\.level/m);
  });

  it('names what a device lacks that was asked for, and blames no model for it', async () => {
    const gpuDir = join(folder, 'gpu');
    const env = { UMPIRE_PORT: '0', UMPIRE_ENGINE_DEVICE: 'cuda', UMPIRE_ENGINE_GPU_DIR: gpuDir };
    const without = await doctor(env);
    expect(without.code).toBe(1);
    const reason = process.platform === 'linux' && process.arch === 'x64' ? '`umpire gpu install`' : 'Linux on x64';
    expect(without.out).toMatch(new RegExp(`^fail +device +cuda cannot be used: .*${reason}`, 'm'));
    expect(without.out).not.toContain('golden cases');
    expect(without.out).toMatch(/^1 fault, /m);
    const forgiving = await doctor({ ...env, UMPIRE_ENGINE_ALLOW_DEVICE_FALLBACK: 'true' }, ['--quick']);
    expect(forgiving).toMatchObject({ code: 0, out: expect.stringMatching(/^warn +device +cpu: /m) });
  });

  it.runIf(process.platform === 'linux' && process.arch === 'x64')(
    'names a provider that is of another version, or was changed after the install',
    async () => {
      const gpuDir = join(folder, 'gpu');
      const env = { UMPIRE_PORT: '0', UMPIRE_ENGINE_GPU_DIR: gpuDir };
      mkdirSync(join(gpuDir, 'onnxruntime-1.0.0'), { recursive: true });
      const { code, out } = await doctor(env, ['--quick']);
      expect(code).toBe(0);
      expect(out).toMatch(
        /^warn +device +cpu: the CUDA provider in .* is of version 1\.0\.0, the runtime library of /m,
      );
      const version = /the runtime library of ([\d.]+):/.exec(out)?.[1] ?? '';
      const installed = join(gpuDir, `onnxruntime-${version}`);
      mkdirSync(installed);
      const file = { name: 'libonnxruntime_providers_cuda.so', bytes: 5, sha256: 'of other bytes' };
      writeFileSync(join(installed, file.name), 'other');
      writeFileSync(join(installed, 'cuda.json'), JSON.stringify({ format: 1, version, files: [file] }));
      expect((await doctor(env)).out).toMatch(
        /^warn +device +libonnxruntime_providers_cuda\.so in .* has other bytes/m,
      );
    },
  );

  it('works beside a running server, and as JSON', async () => {
    const server = new ServerProcess({ UMPIRE_MODELS: TINY_MODEL, UMPIRE_API_KEY: 'a-fixed-key-for-this-test' });
    try {
      const { port } = new URL(await server.ready());
      const { code, out } = await doctor({ UMPIRE_PORT: port, UMPIRE_DATA_DIR: server.dataDir }, ['--json']);
      expect(code).toBe(0);
      const report = JSON.parse(out) as { ok: boolean; findings: { state: string; subject: string; text: string }[] };
      expect(report.ok).toBe(true);
      const found = (subject: string) => report.findings.filter((finding) => finding.subject === subject);
      expect(found('address')).toEqual([
        { state: 'note', subject: 'address', text: `an umpire listens on http://127.0.0.1:${port} already` },
      ]);
      expect(found('store')).toEqual([
        { state: 'ok', subject: 'store', text: expect.stringMatching(/umpire\.sqlite, schema (\d+) of \1$/) },
      ]);
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
      // A second server on this folder would be refused, whatever its port.
      const second = await doctor({ UMPIRE_PORT: '0', UMPIRE_DATA_DIR: server.dataDir });
      expect(second.code).toBe(1);
      expect(second.out).toMatch(/^fail +store +another server uses this data folder$/m);
    } finally {
      await server.dispose();
    }
  });
});
