// From the words after `umpire` to a command and its exit code. 0 is success, 1 a failure, 2 a mistake in the command line.

import { auditCommand } from './audit.ts';
import { calibrateCommand } from './calibrate.ts';
import { type Command, parseCommandLine, UsageError } from './command.ts';
import { dbBackupCommand, dbCheckCommand, dbCopyCommand, dbRestoreCommand } from './db.ts';
import { decideCommand } from './decide.ts';
import { evalCommand } from './eval.ts';
import { commandHelp, programHelp } from './help.ts';
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

const USAGE_EXIT_CODE = 2;

export async function runCommand(args: readonly string[], program: Program): Promise<number> {
  const [first] = args;
  if (first === '--version' || first === '-v') {
    program.writeOut(`umpire ${program.version}\n`);
    return 0;
  }
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') {
    program.writeOut(programHelp(COMMANDS, program));
    return 0;
  }
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, index) => args[index] === word));
  if (command === undefined) {
    program.writeError(`There is no command "${first}".\n\n${programHelp(COMMANDS, program)}`);
    return USAGE_EXIT_CODE;
  }
  return await runNamed(command, args.slice(command.name.split(' ').length), program);
}

async function runNamed(command: Command, args: readonly string[], program: Program): Promise<number> {
  try {
    const given = parseCommandLine(command, args, program);
    if (!given.options['help']) return await command.run(given, program);
    program.writeOut(commandHelp(command, program));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    program.writeError(`${error.message}\n\n${commandHelp(command, program)}`);
    return USAGE_EXIT_CODE;
  }
}
