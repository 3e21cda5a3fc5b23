// The process: runs the command that the command line names, tells its failure in words, and ends with its exit code.

import { program } from './app/program.ts';
import { runCommand } from './cli/run-command.ts';
import { ConfigError } from './config/load.ts';
import { AppError, StoreUnavailableError } from './domain/errors.ts';
import { StartError } from './runtime/start-error.ts';
import { StorageError } from './storage/storage-error.ts';

const EXPECTED_FAILURES = [AppError, ConfigError, StartError, StorageError, StoreUnavailableError];

/** Mistakes of whoever starts the program are told in one message; anything else with its stack. */
function reportFailure(error: unknown): number {
  const isExpected = EXPECTED_FAILURES.some((type) => error instanceof type);
  const told = error instanceof Error ? (isExpected ? error.message : error.stack) : String(error);
  process.stderr.write(`umpire: ${told}\n`);
  return 1;
}

/** What a pipe cannot take at once waits for its reader, and an exit would drop it. Resolves also when the reader left. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

// Whoever reads may leave first, as `head` does. That is no fault, and no reason to end a server.
process.stdout.on('error', () => undefined);
const exitCode = await runCommand(process.argv.slice(2), program).catch(reportFailure);
await Promise.all([process.stdout, process.stderr].map(flush));
// By now everything that was opened is closed. Whatever else keeps the event loop busy must not keep a supervisor waiting.
process.exit(exitCode);
