// From the words after `umpire` to a command and its exit code.

import { findNearest } from '../domain/near-miss.ts';
import { auditCommand } from './audit.ts';
import { calibrateCommand } from './calibrate.ts';
import { type Command, parseCommandLine, UsageError } from './command.ts';
import { dbBackupCommand, dbCheckCommand, dbCopyCommand, dbRestoreCommand } from './db.ts';
import { decideCommand } from './decide.ts';
import { doctorCommand } from './doctor.ts';
import { evalCommand } from './eval.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { commandHelp, findTopicHelp, groupHelp, programHelp, usageLine } from './help.ts';
import {
  keysCreateCommand,
  keysDisableCommand,
  keysEnableCommand,
  keysListCommand,
  keysRevokeCommand,
  keysRotateCommand,
  keysShowCommand,
  keysUpdateCommand,
} from './keys.ts';
import { modelsListCommand, modelsVerifyCommand } from './models.ts';
import { pricesListCommand, pricesSetCommand } from './prices.ts';
import type { Program } from './program.ts';
import { serveCommand } from './serve.ts';
import { requestsCommand, usageCommand } from './usage.ts';

export const COMMANDS: readonly Command[] = [
  serveCommand,
  doctorCommand,
  decideCommand,
  evalCommand,
  calibrateCommand,
  keysCreateCommand,
  keysListCommand,
  keysShowCommand,
  keysUpdateCommand,
  keysRotateCommand,
  keysDisableCommand,
  keysEnableCommand,
  keysRevokeCommand,
  pricesListCommand,
  pricesSetCommand,
  usageCommand,
  requestsCommand,
  auditCommand,
  dbBackupCommand,
  dbRestoreCommand,
  dbCheckCommand,
  dbCopyCommand,
  modelsListCommand,
  modelsVerifyCommand,
];

const HELP_WORDS: ReadonlySet<string> = new Set(['help', '--help', '-h']);

export async function runCommand(args: readonly string[], program: Program): Promise<ExitCode> {
  const [first] = args;
  if (first === '--version' || first === '-v') {
    program.writeOut(`umpire ${program.version}\n`);
    return EXIT.done;
  }
  const topic = first === 'help' && args.length === 2 ? findTopicHelp(args[1] ?? '', program) : undefined;
  if (topic !== undefined) {
    program.writeOut(topic);
    return EXIT.done;
  }
  // `umpire help keys create` is `umpire keys create --help`.
  if (first === 'help' && args.length > 1) return await runCommand([...args.slice(1), '--help'], program);
  if (first === undefined || HELP_WORDS.has(first)) {
    program.writeOut(programHelp(COMMANDS, program));
    return EXIT.done;
  }
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, index) => args[index] === word));
  if (command !== undefined) return await runNamed(command, args.slice(command.name.split(' ').length), program);
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  return group.length > 0 ? answerGroup(first, group, { args, program }) : answerUnknown(first, COMMANDS, program);
}

interface Answering {
  readonly args: readonly string[];
  readonly program: Program;
}

/** `umpire keys`: its commands if it asks for help, otherwise what is wrong. */
function answerGroup(group: string, commands: readonly Command[], { args, program }: Answering): ExitCode {
  const [, second] = args;
  if (second === undefined) {
    program.writeError(`${groupHelp(group, commands, program)}\n${told(`${group} needs one of these commands.`)}`);
    return EXIT.misused;
  }
  if (!args.some((word) => HELP_WORDS.has(word))) return answerUnknown(`${group} ${second}`, commands, program);
  program.writeOut(groupHelp(group, commands, program));
  return EXIT.done;
}

function answerUnknown(wanted: string, commands: readonly Command[], program: Program): ExitCode {
  const [group, second] = wanted.split(' ');
  const firstWords = second === undefined ? commands.map(({ name }) => name.split(' ')[0] ?? name) : [];
  const nearest = findNearest(wanted, [...commands.map(({ name }) => name), ...firstWords]);
  const help = second === undefined ? 'umpire --help' : `umpire ${group} --help`;
  const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  program.writeError(told(`There is no command "${wanted}".${meant} \`${help}\` lists them.`));
  return EXIT.misused;
}

async function runNamed(command: Command, args: readonly string[], program: Program): Promise<ExitCode> {
  try {
    const given = parseCommandLine(command, args, program);
    if (!given.options['help']) return await command.run(given, program);
    program.writeOut(commandHelp(command, program));
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // The line that matters comes last: it is where the eye is.
    program.writeError(
      `Usage: ${usageLine(command)}\n\`umpire ${command.name} --help\` tells more.\n\n${told(error.message)}`,
    );
    return EXIT.misused;
  }
}

function told(message: string): string {
  return `umpire: ${message}\n`;
}
