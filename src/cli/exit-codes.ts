// The exit codes of all commands: the one list that `umpire help exit-codes` and docs/cli.md show.

export const EXIT_CODES = {
  0: 'Done. A server: everything it had accepted was answered.',
  1: 'Failed, or found a fault. Standard error says why.',
  2: 'A mistake in the command line. Nothing was done.',
  3: 'Finished, but some rows could not be answered; they are in the output with their errors.',
  78: 'A setting has a fault. The same command fails again until that is mended.',
  130: 'Stopped by Ctrl-C or SIGTERM before the end of a batch or a pull. The same command goes on.',
} as const;

export type ExitCode = keyof typeof EXIT_CODES;

/** `misconfigured` is EX_CONFIG of BSD's sysexits.h: by it a supervisor knows not to start the same again. */
export const EXIT = {
  done: 0,
  failed: 1,
  misused: 2,
  someRowsFailed: 3,
  misconfigured: 78,
  stopped: 130,
} as const satisfies Record<string, ExitCode>;
