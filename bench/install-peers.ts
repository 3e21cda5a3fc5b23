// Makes the Python environments of the peers, each from its pinned requirements. Does nothing to one that is as it should be.
// node bench/install-peers.ts [--environments DIR] [--python FILE]

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  DEFAULT_ENVIRONMENTS_FOLDER,
  ENVIRONMENT_NAMES,
  type EnvironmentName,
  requirementsFile,
} from './servers/python-environment.ts';

/** Written last: an installation that was cut short is done again. */
const STAMP = 'umpire-requirements.txt';

function isAsItShouldBe(folder: string, requirements: string): boolean {
  const stamp = join(folder, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === requirements;
}

function install(name: EnvironmentName, environmentsFolder: string, python: string): void {
  const folder = join(environmentsFolder, name);
  const file = requirementsFile(name);
  const requirements = readFileSync(file, 'utf8');
  const isDone = isAsItShouldBe(folder, requirements);
  console.log(`${name}: ${isDone ? 'as it should be' : 'installing'}`);
  if (isDone) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(environmentsFolder, { recursive: true });
  execFileSync(python, ['-m', 'venv', folder], { stdio: 'inherit' });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', file];
  execFileSync(join(folder, 'bin', 'python'), pip, { stdio: 'inherit' });
  writeFileSync(join(folder, STAMP), requirements);
}

const { values } = parseArgs({
  options: {
    environments: { type: 'string', default: DEFAULT_ENVIRONMENTS_FOLDER },
    python: { type: 'string', default: 'python3' },
  },
});
for (const name of ENVIRONMENT_NAMES) install(name, resolve(values.environments), values.python);
