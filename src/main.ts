// The process: runs the command that the command line names, and ends with its exit code.

import { program } from './app/program.ts';
import { runCommand } from './cli/run-command.ts';

/** What a pipe cannot take at once waits for its reader, and an exit would drop it. Resolves also when the reader left. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

// Whoever reads may leave first, as `head` does. That is no fault, and no reason to end a server.
process.stdout.on('error', () => undefined);
const exitCode = await runCommand(process.argv.slice(2), program);
await Promise.all([process.stdout, process.stderr].map(flush));
// By now everything that was opened is closed. Whatever else keeps the event loop busy must not keep a supervisor waiting.
process.exit(exitCode);
