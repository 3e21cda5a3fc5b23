// The help texts, made from the commands themselves.

import type { Command } from './command.ts';
import type { Program } from './program.ts';

const COLUMN = 34;

export function programHelp(commands: readonly Command[], program: Program): string {
  const lines = commands.map(({ name, summary }) => row(name, summary));
  return [
    `umpire ${program.version}: decisions, embeddings and chat behind one address and one set of keys.`,
    '',
    'Usage: umpire <command> [options]',
    '',
    ...lines,
    '',
    '`umpire <command> --help` tells more. Settings come from flags, UMPIRE_… variables or a YAML file (--config).',
    '',
  ].join('\n');
}

export function commandHelp(command: Command, program: Program): string {
  const options = Object.entries(command.options).map(([name, { type, help, example }]) =>
    row(`--${name}${type === 'boolean' ? '' : ` ${example ?? '…'}`}`, help),
  );
  const settings = program.settingFlags
    .filter(({ name }) => !(name in command.options))
    .map(({ name, type, help }) => row(`--${name}${type === 'boolean' ? '' : ' …'}`, help));
  return [
    `${command.summary}.`,
    '',
    `Usage: umpire ${command.name} ${command.usage}`.trimEnd(),
    '',
    ...options,
    ...(command.notes === undefined ? [] : ['', command.notes]),
    '',
    ...(command.showsSettings ? ['Settings:', ...settings] : ['Takes the settings of `umpire serve` as well.']),
    '',
  ].join('\n');
}

function row(left: string, right: string): string {
  const padded = `  ${left}`.padEnd(COLUMN);
  return padded.endsWith(' ') ? padded + right : `${padded}\n${' '.repeat(COLUMN)}${right}`;
}
