// From the words after `umpire` to a command and its exit code.

import { messageOf } from '../domain/errors.ts';
import { findNearest } from '../domain/near-miss.ts';
import { LabelledFileError } from '../quality/labelled-row.ts';
import { auditCommand } from './audit.ts';
import { benchCommand } from './bench.ts';
import { calibrateCommand } from './calibrate.ts';
import { type Command, parseCommandLine, UsageError } from './command.ts';
import { createCompletionCommand } from './completion/completion.ts';
import { dbBackupCommand, dbCheckCommand, dbCopyCommand, dbRestoreCommand } from './db.ts';
import { decideCommand } from './decide.ts';
import { doctorCommand } from './doctor.ts';
import { embedCommand } from './embed.ts';
import { evalCommand } from './eval.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { CommandError, commandFailure, type Failure } from './failure.ts';
import { gpuInstallCommand } from './gpu-install.ts';
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
import { labelCommand } from './label.ts';
import { learnCommand } from './learn.ts';
import { modelsListCommand, modelsVerifyCommand } from './models.ts';
import { modelsInspectCommand, modelsRemoveCommand } from './models-inspect.ts';
import { modelsPullCommand } from './models-pull.ts';
import { pricesListCommand, pricesSetCommand } from './prices.ts';
import type { Program } from './program.ts';
import { reloadCommand } from './reload.ts';
import { serveCommand } from './serve.ts';
import { tellFailure } from './tell-failure.ts';
import { requestsCommand, usageCommand } from './usage.ts';

export const COMMANDS: readonly Command[] = [
  serveCommand,
  reloadCommand,
  doctorCommand,
  gpuInstallCommand,
  decideCommand,
  embedCommand,
  benchCommand,
  evalCommand,
  calibrateCommand,
  learnCommand,
  labelCommand,
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
  modelsPullCommand,
  modelsInspectCommand,
  modelsVerifyCommand,
  modelsRemoveCommand,
  createCompletionCommand(() => COMMANDS),
];

const HELP_WORDS: ReadonlySet<string> = new Set(['help', '--help', '-h']);

export async function runCommand(args: readonly string[], program: Program): Promise<ExitCode> {
  try {
    return await answer(args, program);
  } catch (error) {
    return report(error, args, program);
  }
}

async function answer(args: readonly string[], program: Program): Promise<ExitCode> {
  const [first, second] = args;
  if (first === '--version' || first === '-v') return say(`umpire ${program.version}\n`, program);
  if (first === undefined || (args.length === 1 && HELP_WORDS.has(first))) {
    return say(programHelp(COMMANDS, program), program);
  }
  if (HELP_WORDS.has(first)) {
    const topic = args.length === 2 ? findTopicHelp(second ?? '', program) : undefined;
    // `umpire help keys create` is `umpire keys create --help`.
    return topic === undefined ? await answer([...args.slice(1), '--help'], program) : say(topic, program);
  }
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, index) => args[index] === word));
  if (command !== undefined) return await runNamed(command, args.slice(command.name.split(' ').length), program);
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length === 0) throw unknownCommand(first, COMMANDS);
  return answerGroup(first, group, { args, program });
}

interface Answering {
  readonly args: readonly string[];
  readonly program: Program;
}

/** `umpire keys`: its commands if it asks for help, otherwise what is wrong. */
function answerGroup(group: string, commands: readonly Command[], { args, program }: Answering): ExitCode {
  const [, second] = args;
  const help = groupHelp(group, commands, program);
  if (args.some((word) => HELP_WORDS.has(word))) return say(help, program);
  if (second === undefined || second.startsWith('-')) {
    throw new UsageError(`${group} needs one of these commands.`, help);
  }
  throw unknownCommand(`${group} ${second}`, commands);
}

function unknownCommand(wanted: string, commands: readonly Command[]): UsageError {
  if (wanted.startsWith('-')) {
    return new UsageError(
      `A command comes before ${wanted}, as in \`umpire serve ${wanted}\`. \`umpire --help\` lists them.`,
    );
  }
  const [group, second] = wanted.split(' ');
  const firstWords = second === undefined ? commands.map(({ name }) => name.split(' ')[0] ?? name) : [];
  const nearest = findNearest(wanted, [...commands.map(({ name }) => name), ...firstWords]);
  const help = second === undefined ? 'umpire --help' : `umpire ${group} --help`;
  const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return new UsageError(`There is no command "${wanted}".${meant} \`${help}\` lists them.`);
}

async function runNamed(command: Command, args: readonly string[], program: Program): Promise<ExitCode> {
  try {
    const given = parseCommandLine(command, args, program);
    return given.options['help'] ? say(commandHelp(command, program), program) : await command.run(given, program);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const usage = `Usage: ${usageLine(command)}\n\`umpire ${command.name} --help\` tells more, with examples.\n`;
    throw new UsageError(error.message, usage);
  }
}

function report(error: unknown, args: readonly string[], program: Program): ExitCode {
  const isJson = args.includes('--json');
  if (error instanceof UsageError) {
    tellFailure(program, { failure: commandFailure('invalid_usage', error.message), before: error.help, isJson });
    return EXIT.misused;
  }
  const told = describe(error, program);
  tellFailure(program, { ...told, isJson });
  return told.failure.code === 'invalid_configuration' ? EXIT.misconfigured : EXIT.failed;
}

function describe(error: unknown, program: Program): { readonly failure: Failure; readonly words?: string } {
  if (error instanceof CommandError) return { failure: error.failure, words: error.message };
  if (error instanceof LabelledFileError) {
    const { message } = error;
    return { failure: commandFailure('invalid_rows', message), words: `The rows have faults:\n${message}` };
  }
  const failure = program.findFailure(error);
  if (failure !== undefined) return { failure };
  // Nobody expected it: whoever reports it needs where it happened.
  const words = (error instanceof Error ? error.stack : undefined) ?? messageOf(error);
  return { failure: { message: messageOf(error), type: 'server_error', param: null, code: 'internal_error' }, words };
}

function say(text: string, program: Program): ExitCode {
  program.writeOut(text);
  return EXIT.done;
}
