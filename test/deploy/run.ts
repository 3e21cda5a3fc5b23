// Programs that look at something, and what they say of it.

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

export interface Outcome {
  readonly isClean: boolean;
  readonly out: string;
  /** Both streams, as a person sees them. */
  readonly words: string;
}

/** In the project's root. @throws Error when there is no such program */
export function run(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Outcome {
  const env = { ...process.env, ...environment };
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd: ROOT, encoding: 'utf8', env });
  if (error !== undefined) throw error;
  return { isClean: status === 0, out: stdout, words: `${stdout}${stderr}`.trim() };
}

export function isThere(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}
