// A command over the rows of a file: checks the input before anything is asked, says how far it is, and how to go on when it
// was stopped.

import { type BatchOutput, freshOutput, openBatchOutput } from '../client/batch/batch-output.ts';
import { runBatch } from '../client/batch/batch-run.ts';
import type { BatchTask } from '../client/batch/batch-task.ts';
import { InputFault, openBytes, readLines } from '../client/batch/input-lines.ts';
import { type InputRow, type InputSurvey, readInputRows, surveyRows } from '../client/batch/input-rows.ts';
import { type OutputRows, outputRows } from '../client/batch/output-rows.ts';
import { readRawRows } from '../client/batch/raw-rows.ts';
import { type BatchTraits, OutputTaken } from '../client/batch/run-file.ts';
import { paceClock } from '../client/pace.ts';
import { AskingStopped } from '../client/patient-asker.ts';
import { messageOf } from '../domain/errors.ts';
import { type BatchFiles, STANDARD } from './batch-options.ts';
import { describeCount } from './batch-progress.ts';
import { chooseServer, keyAdvice } from './choose-server.ts';
import { type CommandArguments, UsageError } from './command.ts';
import type { ExitCode } from './exit-codes.ts';
import { CommandError, commandFailure } from './failure.ts';
import type { Program } from './program.ts';
import { type BatchEnding, ProgressReport } from './progress-report.ts';
import { renderJson } from './table.ts';

export interface BatchWork {
  readonly command: 'decide' | 'embed';
  readonly task: BatchTask;
  /** Of which the task is made, beside the rows. */
  readonly model: string;
  readonly questions: string;
  /** Of how answers are written. */
  readonly form: string;
}

export async function runBatchCommand(
  given: CommandArguments,
  program: Program,
  { files, work }: { readonly files: BatchFiles; readonly work: BatchWork },
): Promise<ExitCode> {
  const { headings } = work.task;
  if (given.options['json'] && files.output === STANDARD) {
    throw new UsageError('--json and the answers cannot both go to standard output.');
  }
  refuseSameColumns(['id', ...files.columns.kept, ...headings, 'error']);
  const format = outputRows(files.outputFormat, files.columns.kept, headings);
  let total: number | undefined;
  try {
    const output = await openOutput({ files, work, format, program }, (survey) => {
      total = survey?.rows;
    });
    try {
      return await runOpen(given, program, { files, work, format, output, total });
    } finally {
      await output.close();
    }
  } catch (error) {
    throw error instanceof OutputTaken ? new CommandError(commandFailure('output_taken', error.message)) : error;
  }
}

function refuseSameColumns(names: readonly string[]): void {
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) {
    throw new UsageError(`The output would have two columns named ${JSON.stringify(twice)}: leave one out of --keep.`);
  }
}

interface OpenBatch {
  readonly files: BatchFiles;
  readonly work: BatchWork;
  readonly format: OutputRows;
  readonly output: BatchOutput;
  readonly total: number | undefined;
}

async function openOutput(
  { files, work, format, program }: Omit<OpenBatch, 'output' | 'total'> & { readonly program: Program },
  onSurvey: (survey: InputSurvey | undefined) => void,
): Promise<BatchOutput> {
  const survey = async (beginRows: number): Promise<InputSurvey | undefined> => {
    const found = files.input === STANDARD ? undefined : await surveyInput(files, program, beginRows);
    if (found !== undefined) refuseFaults(found, files.input);
    onSurvey(found);
    return found;
  };
  if (files.output === STANDARD) {
    await survey(0);
    if (format.heading !== '') await program.pipeOut(format.heading);
    return freshOutput((text) => program.pipeOut(text));
  }
  return await openBatchOutput({
    path: files.output,
    format: files.outputFormat,
    traits: traitsOf(files, work),
    heading: format.heading,
    survey,
  });
}

function traitsOf({ outputFormat, columns }: BatchFiles, { command, model, questions, form }: BatchWork): BatchTraits {
  return { command, model, questions, columns: JSON.stringify([outputFormat, columns, form]) };
}

function readRows(files: BatchFiles, program: Program): AsyncGenerator<InputRow | InputFault> {
  const { input, inputFormat, delimiter, columns } = files;
  const bytes = input === STANDARD ? program.openStdin() : openBytes(input);
  return readInputRows(readRawRows(readLines(bytes), inputFormat, delimiter), columns);
}

async function surveyInput(files: BatchFiles, program: Program, beginRows: number): Promise<InputSurvey> {
  try {
    return await surveyRows(readRows(files, program), beginRows);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw unusableInput(`${files.input} cannot be read: ${messageOf(error)}.`);
  }
}

function unusableInput(told: string): CommandError {
  return new CommandError(commandFailure('invalid_rows', told));
}

/** @throws CommandError, whose message has a line for every fault */
function refuseFaults({ rows, faults, moreFaults }: InputSurvey, input: string): void {
  if (faults.length > 0) {
    const more = moreFaults > 0 ? [`… and ${describeCount(moreFaults)} more`] : [];
    const lines = [...faults.map(({ message }) => message), ...more];
    throw unusableInput(`${input} has faults, and nothing was asked:\n  ${lines.join('\n  ')}`);
  }
  if (rows === 0) throw unusableInput(`There are no rows in ${input}.`);
}

async function runOpen(given: CommandArguments, program: Program, batch: OpenBatch): Promise<ExitCode> {
  const { files, output, total } = batch;
  const { rows: before, errors, repairedBytes } = output.written;
  const report = new ProgressReport(program, { before, errors, total });
  if (repairedBytes > 0) report.note('The last row of the output was not whole, and is asked again.');
  if (before > 0) report.note(`${describeCount(before)} rows are in ${files.output} already.`);
  const isNothingLeft = total !== undefined && before >= total;
  const ending = isNothingLeft ? COMPLETE : await runReported(given, program, { batch, report });
  const exitCode = report.end(files.output, ending);
  if (given.options['json']) program.writeOut(renderJson(report.toJson(ending)));
  return exitCode;
}

const COMPLETE: BatchEnding = { type: 'complete' };

async function runReported(
  given: CommandArguments,
  program: Program,
  { batch, report }: { readonly batch: OpenBatch; readonly report: ProgressReport },
): Promise<BatchEnding> {
  const { files, work, format, output } = batch;
  const stop = new AbortController();
  const server = await chooseServer(given, program);
  const forget = program.onInterrupt(() => {
    stop.abort();
    report.note('Stopping: what is under way is finished first. Ctrl-C once more stops at once.');
  });
  report.start();
  try {
    await runBatch({
      rows: readRows(files, program),
      isDone: output.isDone,
      task: work.task,
      format,
      server,
      clock: paceClock,
      concurrency: files.concurrency,
      batchId: output.batchId,
      write: output.write,
      onNews: (news) => report.add(news),
      signal: stop.signal,
    });
    return stop.signal.aborted ? { type: 'stopped' } : COMPLETE;
  } catch (error) {
    return { type: 'failed', reason: describeBatchFailure(error, files, program) };
  } finally {
    forget();
    await server.close();
  }
}

/** @throws what nobody expects */
function describeBatchFailure(error: unknown, { input, output }: BatchFiles, program: Program): string {
  if (error instanceof AskingStopped) {
    return [error.message, keyAdvice(error.status, program)].join(' ').trimEnd();
  }
  if (error instanceof InputFault) return `${input}: ${error.message}`;
  if (isSystemError(error)) return `${output} cannot be written, or ${input} not be read: ${messageOf(error)}.`;
  throw error;
}

/** Of files and streams: a full disk, a reader that left, a packed file that is cut off. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}
