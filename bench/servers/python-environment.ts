// The Python environments of the peers: where they are, which versions they hold, how a server of one is run.

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const PYTHON_FOLDER = resolve(import.meta.dirname, 'python');

/** Not in the repository. */
export const DEFAULT_ENVIRONMENTS_FOLDER = resolve(import.meta.dirname, '..', 'environments');

/** Each has `python/requirements/<name>.txt`, all its packages pinned. */
export const ENVIRONMENT_NAMES = ['decisions', 'infinity', 'sentence-transformers'] as const;
export type EnvironmentName = (typeof ENVIRONMENT_NAMES)[number];

export function requirementsFile(name: EnvironmentName): string {
  return join(PYTHON_FOLDER, 'requirements', `${name}.txt`);
}

/** @throws if the environment was not installed */
export function pythonOf(environmentsFolder: string, name: EnvironmentName): string {
  const python = join(environmentsFolder, name, 'bin', 'python');
  if (!existsSync(python)) throw new Error(`No ${python}: run node bench/install-peers.ts first.`);
  return python;
}

/** Pinned versions of some packages. */
export function readVersions(name: EnvironmentName, packages: readonly string[]): Record<string, string> {
  const lines = readFileSync(requirementsFile(name), 'utf8').split('\n');
  const pins = new Map(lines.map((line) => line.split('==') as [string, string | undefined]));
  return Object.fromEntries(packages.map((wanted) => [wanted, pins.get(wanted) ?? 'not pinned']));
}
