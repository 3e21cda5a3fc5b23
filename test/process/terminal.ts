// A command in a terminal of its own, by the program `script` of util-linux: what is typed into its standard input comes
// from the keyboard.

import { spawnSync } from 'node:child_process';

export const CTRL_C = '\u0003';

/** Whether this machine has that program. Others of the name take other options. */
export function hasTerminals(): boolean {
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  return process.platform === 'linux' && /util-linux/.test(stdout ?? '');
}

export function inTerminal(command: string): string[] {
  // Who starts the tests may have any shell. Some replace themselves by their last command and others stay, and then hear
  // the keyboard as well.
  return ['env', 'SHELL=/bin/sh', 'script', '-qec', `exec ${command}`, '/dev/null'];
}
