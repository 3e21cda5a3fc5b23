// A command that fetches files: its progress on the terminal, and Ctrl-C, after which the same command goes on.

import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Program } from './program.ts';
import { PullReport } from './pull-report.ts';

interface FetchWatch {
  readonly signal: AbortSignal;
  readonly tell: PullReport['tell'];
}

/** @param work fetches; what it returns is written out */
export async function fetchWithReport(
  program: Program,
  { isJson }: { readonly isJson: boolean },
  work: (watch: FetchWatch) => Promise<string>,
): Promise<ExitCode> {
  const stopped = new AbortController();
  const forget = program.onInterrupt(() => stopped.abort());
  const report = new PullReport(program, { isJson });
  try {
    const text = await work({ signal: stopped.signal, tell: (news) => report.tell(news) });
    report.end();
    program.writeOut(text);
    return EXIT.done;
  } catch (error) {
    report.end();
    if (!stopped.signal.aborted) throw error;
    program.writeError('umpire: Stopped. What was fetched stays; the same command goes on.\n');
    return EXIT.stopped;
  } finally {
    forget();
  }
}
