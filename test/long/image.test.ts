// The container's image: built from deploy/Dockerfile step by step, looked at, and run without rights. Needs root, buildah
// and mmdebstrap (Debian has them), npm's and Debian's registries.

import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Image, layDataFolder, RUNNING_TOOLS } from '../deploy/image.ts';
import { findImageHindrance } from '../deploy/image-store.ts';
import { decide, targetOf } from '../process/decisions.ts';
import { ServerProcess } from '../process/server-process.ts';

const KEY = 'a-fixed-key-for-this-test';
const hindrance = findImageHindrance(...RUNNING_TOOLS);
if (hindrance !== undefined) process.stderr.write(`The image is not built: ${hindrance}.\n`);

const packageSchema = z.object({ name: z.string().optional(), version: z.string().optional() });
const listSchema = z.object({
  spdxVersion: z.literal('SPDX-2.3'),
  packages: z.array(z.object({ name: z.string(), versionInfo: z.string(), licenseDeclared: z.string() })),
});

describe.skipIf(hindrance !== undefined)('the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-image-data-'));
  let image: Image;
  let data: string;

  beforeAll(() => {
    data = layDataFolder(folder);
    image = Image.build();
  });

  afterAll(() => {
    image.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const inImage = (...words: string[]) => spawnSync(...split(image.command(data, words)), { encoding: 'utf8' });
  const split = ([file = '', ...args]: string[]): [string, string[]] => [file, args];

  it('lists every npm package that is in it, and no other', () => {
    const { packages } = listSchema.parse(JSON.parse(readFileSync(join(image.root, 'app/sbom.spdx.json'), 'utf8')));
    const listed = packages
      .map(({ name, versionInfo }) => `${name}@${versionInfo}`)
      .filter((name) => !name.startsWith('umpire@'));
    const installed = globSync('**/node_modules/{*,@*/*}/package.json', { cwd: join(image.root, 'app') })
      .map((file) => packageSchema.parse(JSON.parse(readFileSync(join(image.root, 'app', file), 'utf8'))))
      .flatMap(({ name, version }) => (name === undefined || version === undefined ? [] : [`${name}@${version}`]));
    expect(new Set(listed)).toEqual(new Set(installed));
    expect(packages.find(({ name }) => name === 'zod')).toMatchObject({ licenseDeclared: 'MIT' });
  });

  it('holds the native tokenizer and unpacked graphs, and no compiler, development package or test', () => {
    const find = (pattern: string): string[] => globSync(pattern, { cwd: image.root });
    expect(find('app/native/build/**/*.node')).toHaveLength(1);
    expect(find('app/models/*/*.onnx.gz')).toEqual([]);
    expect(find('app/models/*/*.onnx').length).toBeGreaterThan(1);
    expect(find('usr/bin/{g++,gcc,cc,make}')).toEqual([]);
    expect(find('app/node_modules/{vitest,typescript,node-linux-*}')).toEqual([]);
    expect(find('app/src/**/*.test.ts')).toEqual([]);
  });

  it('has nothing that its user may write, but /data', () => {
    const { User } = image.config;
    expect(User).toBe('1000:1000');
    const folders = ['app', 'data', 'etc', 'usr', 'opt'].filter((name) => existsSync(join(image.root, name)));
    const { stdout } = spawnSync(
      'setpriv',
      ['--reuid=1000', '--regid=1000', '--clear-groups', 'find', ...folders, '-writable', '-not', '-type', 'l'],
      { cwd: image.root, encoding: 'utf8' },
    );
    expect(stdout.trim()).toBe('data');
  });

  it('serves as an unprivileged user on a file system that cannot be written, and answers as the checkout does', async () => {
    const settings = { UMPIRE_API_KEY: KEY, UMPIRE_HOST: '127.0.0.1', UMPIRE_PORT: '0' };
    const [contained, checkout] = [image.serve(data, settings), new ServerProcess({ UMPIRE_API_KEY: KEY })];
    try {
      const answers = await Promise.all(
        [contained, checkout].map(async (server) => await (await decide(await targetOf(server, KEY), 50)).json()),
      );
      expect(answers[0]).toHaveProperty('answers.department.choice');
      expect(answers[0]).toEqual(answers[1]);
      const status = readFileSync(`/proc/${contained.pid}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\s+1000\s+1000\s+1000\s+1000$/m);
      expect(status).toMatch(/^CapBnd:\s+0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      const port = new URL(await contained.ready()).port;
      const [kind, ...check] = image.config.Healthcheck.Test;
      expect(kind).toBe('CMD');
      const probe = () => inImage(`UMPIRE_PORT=${port}`, ...check).status;
      expect(probe()).toBe(0);
      expect(await contained.stop('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(probe()).toBe(1);
    } finally {
      await contained.dispose();
      await checkout.dispose();
    }
  });

  it('refuses what would be written elsewhere', () => {
    const { status, stderr } = inImage('touch', '/app/file');
    expect([status, stderr]).toEqual([1, expect.stringContaining('Read-only file system')]);
  });
});
