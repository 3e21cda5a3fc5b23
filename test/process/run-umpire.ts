// One command of the command line, run to its end.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { childEnvironment, type Environment, LAUNCHER } from './server-process.ts';

export interface CommandRun {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export interface CommandSurroundings {
  readonly cwd: string;
  readonly env?: Environment;
  readonly input?: string;
  /** Default: the launcher of the checkout under the Node of the tests. */
  readonly program?: readonly [file: string, ...args: string[]];
}

export async function runUmpire(args: readonly string[], around: CommandSurroundings): Promise<CommandRun> {
  const [file, ...first] = around.program ?? [process.execPath, LAUNCHER];
  const child = spawn(file, [...first, ...args], { cwd: around.cwd, env: childEnvironment(around.env ?? {}) });
  child.stdin.end(around.input ?? '');
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, out, error };
}
