// The package as strangers get it: packed, installed from the npm registry into an empty folder, and run there with npx.
// Needs the registry.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decide, targetOf } from '../process/decisions.ts';
import { childEnvironment, ROOT, ServerProcess } from '../process/server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-package-'));
const app = join(folder, 'app');
let installed: string;

/** npm hands its settings down; a stranger's npm has none of ours. */
const environment = Object.fromEntries(Object.entries(childEnvironment({})).filter(([name]) => !/^npm_/i.test(name)));

function npm(args: readonly string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

beforeAll(() => {
  const packed = npm(['pack', '--pack-destination', folder], ROOT).trimEnd().split('\n').at(-1) ?? '';
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"name":"stranger","private":true}');
  installed = npm(['install', '--foreground-scripts', join(folder, packed)], app);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('the packed package', () => {
  it('installs with one script, our own', () => {
    expect(installed).toMatch(/^> umpire@\S+ postinstall$/m);
    expect(installed.match(/^> \S+@\S+ \w+$/gm)).toHaveLength(1);
  });

  it('leaves the checkout as it was', () => {
    expect(npm(['pkg', 'get', 'scripts.postinstall'], join(ROOT, 'node_modules', 'onnxruntime-node'))).toContain(
      'install',
    );
  });

  it('serves from an empty folder, and answers as the checkout does', async () => {
    const [packed, checkout] = [
      new ServerProcess({}, ['npx', 'umpire', 'serve'], { cwd: app, ownGroup: true }),
      new ServerProcess(),
    ];
    try {
      const answers = await Promise.all(
        [packed, checkout].map(async (server) => await (await decide(await targetOf(server), 50)).json()),
      );
      expect(answers[0]).toHaveProperty('answers.department.choice');
      expect(answers[0]).toEqual(answers[1]);
      expect(await (await fetch((await targetOf(packed)).address)).text()).toContain('/playground/main.js');
      packed.killGroup('SIGTERM');
      await packed.exited;
    } finally {
      await packed.disposeGroup();
      await checkout.dispose();
    }
  });
});
