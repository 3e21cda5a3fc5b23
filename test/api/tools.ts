// The tools of `npm run check:api`, in folders of their own: two npm packages by their lockfile, schemathesis in a Python
// environment. Installed when something wants them, left alone when they are as they should be.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'tools');
const PYTHON_FOLDER = join(FOLDER, '.venv');
/** Written last into each: an installation that was cut short is done again. */
const STAMP = 'umpire-stamp';

export const SPECTRAL = join(FOLDER, 'node_modules', '.bin', 'spectral');
export const REDOCLY = join(FOLDER, 'node_modules', '.bin', 'redocly');
export const SCHEMATHESIS = join(PYTHON_FOLDER, 'bin', 'schemathesis');

/** @throws Error when a registry or a program is missing */
export function installTools(): void {
  installOnce('node_modules', 'package-lock.json', () => {
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  });
  installOnce('.venv', 'requirements.txt', () => {
    run('python3', ['-m', 'venv', PYTHON_FOLDER]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary=:all:'];
    run(join(PYTHON_FOLDER, 'bin', 'python'), [...pip, '-r', 'requirements.txt']);
  });
}

function installOnce(name: string, pinsFile: string, install: () => void): void {
  const stamp = join(FOLDER, name, STAMP);
  const pins = readFileSync(join(FOLDER, pinsFile), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === pins) return;
  rmSync(join(FOLDER, name), { recursive: true, force: true });
  install();
  writeFileSync(stamp, pins);
}

function run(file: string, args: readonly string[]): void {
  execFileSync(file, args, { cwd: FOLDER, stdio: 'inherit' });
}
