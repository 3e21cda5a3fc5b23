// The help texts, made from the commands themselves.

import type { Command, CommandOption } from './command.ts';
import { COMMAND_GROUPS, type CommandGroup } from './command-groups.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { type HelpRow, paragraph, renderPage, titledExamples, titledLine, titledRows } from './help-layout.ts';
import type { Program } from './program.ts';

/** What `umpire help …` explains beside commands. */
const HELP_TOPICS: Readonly<
  Record<string, { readonly summary: string; readonly render: (program: Program) => string }>
> = {
  'exit-codes': { summary: 'What the exit codes of all commands mean', render: exitCodesHelp },
};

export function programHelp(commands: readonly Command[], program: Program): string {
  const groups = Object.keys(COMMAND_GROUPS) as CommandGroup[];
  const topics = Object.entries(HELP_TOPICS).map(([topic, { summary }]): HelpRow => [`help ${topic}`, summary]);
  const advice = '`umpire serve --help` lists the settings: flags, UMPIRE_… variables or a YAML file (--config).';
  return renderPage([
    paragraph(
      `umpire ${program.version}: decisions, embeddings and chat behind one address and one set of keys.`,
      program,
    ),
    titledLine('Usage', 'umpire <command> [options]', program),
    ...groups.map((group) => {
      const rows = commands.filter((command) => command.group === group).map(toSummaryRow);
      return titledRows(COMMAND_GROUPS[group], rows, program);
    }),
    titledRows('More help', topics, program),
    paragraph(`\`umpire <command> --help\` tells more, with examples.\n${advice}`, program),
  ]);
}

/** The commands that share a first word. */
export function groupHelp(word: string, commands: readonly Command[], program: Program): string {
  return renderPage([
    titledLine('Usage', `umpire ${word} <command> [options]`, program),
    titledRows('Commands', commands.map(toSummaryRow), program),
    paragraph(`\`umpire ${word} <command> --help\` tells more, with examples.`, program),
  ]);
}

export function usageLine(command: Command): string {
  return `umpire ${command.name} ${command.usage}`.trimEnd();
}

export function commandHelp(command: Command, program: Program): string {
  const settings = program.settingFlags.filter(({ name }) => !(name in command.options));
  const exits = Object.entries(command.exits ?? {}).map(([code, when]): HelpRow => [code, when]);
  return renderPage([
    paragraph(`${command.summary}.`, program),
    titledLine('Usage', usageLine(command), program),
    titledRows('Options', Object.entries(command.options).map(toOptionRow), program),
    paragraph(command.notes ?? '', program),
    titledExamples('Examples', command.examples, program),
    titledRows('Exit codes', exits, program),
    command.showsSettings
      ? titledRows(
          'Settings',
          settings.map(({ name, ...setting }) => toOptionRow([name, setting])),
          program,
        )
      : paragraph('Takes the settings of `umpire serve` as well.', program),
  ]);
}

/** @returns undefined when there is no such topic */
export function findTopicHelp(topic: string, program: Program): string | undefined {
  return Object.hasOwn(HELP_TOPICS, topic) ? HELP_TOPICS[topic]?.render(program) : undefined;
}

function exitCodesHelp(program: Program): string {
  return renderPage([
    titledRows(
      'Exit codes',
      Object.entries(EXIT_CODES).map(([code, when]): HelpRow => [code, when]),
      program,
    ),
    paragraph(
      'A command that a signal ends has the code that shells give: 130 after Ctrl-C, 143 after SIGTERM. A server ends by itself after either, with 0 or 1.',
      program,
    ),
    paragraph('`umpire <command> --help` says what a code means there, where that is more than here.', program),
  ]);
}

function toSummaryRow({ name, summary }: Command): HelpRow {
  return [name, summary];
}

function toOptionRow([name, { type, help, example }]: readonly [string, CommandOption]): HelpRow {
  return [`--${name}${type === 'boolean' ? '' : ` ${example ?? '…'}`}`, help];
}
