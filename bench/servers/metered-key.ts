// A key as an administrator makes it: with everything that can be asked of one, and nothing that is reached.

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const LAUNCHER = resolve(import.meta.dirname, '..', '..', 'src', 'launch.js');
const KEY_OPTIONS = ['--name=bench', '--budget=1000000', '--reset=month', '--requests-per-minute=1000000000'];
const LIMIT_OPTIONS = ['--tokens-per-minute=1000000000', '--concurrent=1000000'];

/** What a server is started with. */
export interface Place {
  readonly dataDir: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** @returns the secret */
export function createMeteredKey({ dataDir, settings }: Place): string {
  const args = [LAUNCHER, 'keys', 'create', ...KEY_OPTIONS, ...LIMIT_OPTIONS, '--json'];
  const env = { ...process.env, ...settings, UMPIRE_DATA_DIR: dataDir };
  const made = JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' })) as { key: string };
  return made.key;
}
