// The launcher: what it asks of V8, and under a Node that is too old, where it hands over to the one that comes with the
// project, or says what to do.

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runUmpire } from './run-umpire.ts';
import { LAUNCHER, ROOT } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-launch-'));
/** Makes a Node pretend to be another; a Node it starts does not. */
const PRETEND = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`;

afterAll(() => rmSync(folder, { recursive: true }));

describe('npm', () => {
  it("has no warnings of its own around the project's commands", async () => {
    const run = await runUmpire(['--version'], { cwd: ROOT, program: ['npm', 'run', '-s', 'umpire', '--'] });
    expect(run).toEqual({ code: 0, out: expect.stringMatching(/^umpire \d/), error: '' });
  });
});

describe('the launcher under Node 20', () => {
  it.runIf(process.platform === 'linux')(
    'starts the Node that comes with the project, and passes on its exit code',
    async () => {
      const program = [process.execPath, '--import', PRETEND, LAUNCHER] as const;
      expect(await runUmpire(['--version'], { cwd: folder, program })).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^umpire \d+\.\d+\.\d+\n$/),
      });
      expect((await runUmpire(['nonsense'], { cwd: folder, program })).code).toBe(2);
    },
  );

  it('says what to do in one sentence where there is no other', async () => {
    const alone = join(folder, 'launch.mjs');
    copyFileSync(LAUNCHER, alone);
    const program = [process.execPath, '--import', PRETEND, alone] as const;
    expect(await runUmpire(['serve'], { cwd: folder, program })).toEqual({
      code: 1,
      out: '',
      error:
        'umpire needs Node 22.18 or newer and this is 20.20.2: install a newer one from https://nodejs.org and start again.\n',
    });
  });
});

describe('the launcher', () => {
  it('asks V8 to keep the wrappers of WebAssembly by an option that it knows, as the tests do', () => {
    const settingIn = (file: string) => /(--[a-z-]*tiering-budget)=\d+/.exec(readFileSync(file, 'utf8'));
    const setting = settingIn(LAUNCHER);
    const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    expect(stdout).toContain(`${setting?.[1]} (`);
    expect(settingIn(join(ROOT, 'test', 'keep-wrappers.ts'))?.[0]).toBe(setting?.[0]);
  });
});
