// What ends a bench in one sentence and not with a stack: the machine is not as it must be, or an answer is not.

export class ToldFault extends Error {}

/** Runs a bench; a fault that is to be told is said in its sentence and ends it with exit code 1. */
export async function reportFault(bench: () => Promise<void>): Promise<void> {
  try {
    await bench();
  } catch (error) {
    if (!(error instanceof ToldFault)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
