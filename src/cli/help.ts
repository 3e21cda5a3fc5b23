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

/** The commands that share a first word. */
export function groupHelp(group: string, commands: readonly Command[]): string {
  return [
    `Usage: umpire ${group} <command> [options]`,
    '',
    ...commands.map(({ name, summary }) => row(name, summary)),
    '',
    `\`umpire ${group} <command> --help\` tells more.`,
    '',
  ].join('\n');
}

export function usageLine(command: Command): string {
  return `Usage: umpire ${command.name} ${command.usage}`.trimEnd();
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
    usageLine(command),
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
