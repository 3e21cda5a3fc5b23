// Tools in a folder of their own: npm packages by their lockfile, Python packages by their pins. Installed when something
// wants them, left alone when they are as they should be.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Written last into each: an installation that was cut short is done again. */
const STAMP = 'umpire-stamp';

export interface PinnedTools {
  /** With `package.json`, `package-lock.json` and `requirements.txt`; gets `node_modules` and `.venv`. */
  readonly folder: string;
  /** More words for pip. */
  readonly pipOptions?: readonly string[];
  /** Run by the Python of `.venv` once all is there: unpacks what a package only carries. */
  readonly unpack?: string;
}

/** @throws Error when a registry or a program is missing */
export function installPinnedTools({ folder, pipOptions = [], unpack }: PinnedTools): void {
  const run = (file: string, args: readonly string[]): void => {
    execFileSync(file, args, { cwd: folder, stdio: 'inherit' });
  };
  const installOnce = (name: string, pinsFile: string, install: () => void): void => {
    const stamp = join(folder, name, STAMP);
    const pins = readFileSync(join(folder, pinsFile), 'utf8');
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === pins) return;
    rmSync(join(folder, name), { recursive: true, force: true });
    install();
    writeFileSync(stamp, pins);
  };
  installOnce('node_modules', 'package-lock.json', () => {
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  });
  installOnce('.venv', 'requirements.txt', () => {
    const python = join(folder, '.venv', 'bin', 'python');
    run('python3', ['-m', 'venv', join(folder, '.venv')]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary=:all:'];
    run(python, [...pip, ...pipOptions, '-r', 'requirements.txt']);
    if (unpack !== undefined) run(python, [unpack]);
  });
}
