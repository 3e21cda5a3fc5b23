// A labelled file from disk: JSON Lines or CSV, plain or gzip, with what its rows leave out: shared questions, or the tasks.json of a
// collection. The rows themselves are quality/labelled-row.ts's.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { InputFault, type InputLine, openBytes, readLines } from '../client/batch/input-lines.ts';
import { readRawRows } from '../client/batch/raw-rows.ts';
import { messageOf } from '../domain/errors.ts';
import { isRecord, parsePlainJson } from '../domain/json.ts';
import type { RowRefusal } from '../quality/asking.ts';
import { findLabelTask, type LabelTask } from '../quality/label-task.ts';
import { chooseRecordColumns, type RecordColumns, rowOfRecord } from '../quality/labelled-record.ts';
import {
  LabelledFileError,
  type LabelledRow,
  parseLabelledRow,
  parseRowText,
  type RowDefaults,
  RowFaults,
} from '../quality/labelled-row.ts';
import type { OptionRenames } from '../quality/renamed-options.ts';
import { RowFault } from '../quality/wire-question.ts';
import { readDelimiter } from './batch-options.ts';
import type { CommandOption } from './command.ts';
import { type CommandArguments, UsageError } from './command.ts';
import type { Program } from './program.ts';
import { readQuestionsFile } from './questions-file.ts';

export const LABELLED_FILE_OPTIONS = {
  questions: {
    type: 'string',
    help: 'The questions of all rows, as in a request',
    example: 'file.json',
    values: 'file',
  },
  'text-column': { type: 'string', help: 'Column of a CSV file with the document', example: 'message' },
  delimiter: { type: 'string', help: 'What separates the columns of a CSV file', example: "';'" },
  limit: { type: 'string', help: 'Only the first rows', example: '500' },
} as const satisfies Record<string, CommandOption>;

export const LABELLED_FILE_NOTES = [
  'FILE has one JSON object a line: a decision request with the right answer in each question.',
  '',
  '  {"state": "I was charged twice.",',
  '   "questions": {"team": {"type": "choice", "instructions": "Which team?",',
  '                          "criteria": {"billing": null, "technical": null}, "gold": "billing"},',
  '                 "urgent": {"type": "noul", "instructions": "Is it urgent?", "gold": false}}}',
  '',
  'With --questions a row is {"state": "…", "gold": {"team": "billing", "urgent": false}}, or a record of a CSV file, whose',
  'columns are the document and one for each question. docs/guides/evaluation.md has more.',
].join('\n');

/** A line each, on standard error. */
export function tellRefusals(refusals: readonly RowRefusal[], program: Program): void {
  for (const { line, message } of refusals) program.writeError(`line ${line} was not answered: ${message}\n`);
}

export interface LabelledFileRules {
  /** Rows beyond it are a fault of the file. Default: any number */
  readonly mostRows?: number;
  /** Of a collection's tasks, which have several: the first alone. Default: each row the next one */
  readonly hasOneWording?: boolean;
  /** Options that have another name by now. */
  readonly renames?: OptionRenames | undefined;
}

/** @throws UsageError, LabelledFileError */
export async function readLabelledFile(
  given: CommandArguments,
  { mostRows = Number.POSITIVE_INFINITY, hasOneWording = false, renames }: LabelledFileRules = {},
): Promise<LabelledRow[]> {
  const [path, ...others] = given.positionals;
  if (path === undefined || others.length > 0) throw new UsageError('It takes one file of labelled rows.');
  const { questions, limit } = given.options;
  const task = await findTask(path);
  const defaults = {
    ...(typeof questions === 'string' ? { questions: await readQuestions(questions) } : {}),
    ...(renames === undefined ? {} : { renames }),
    ...(task === undefined
      ? {}
      : { task: hasOneWording ? { ...task, instructions: task.instructions.slice(0, 1) } : task }),
  };
  const [rows, faults]: [LabelledRow[], RowFaults] = [[], new RowFaults()];
  const most = parseLimit(limit) ?? Number.POSITIVE_INFINITY;
  for await (const { line, read } of readUnread(path, given, defaults)) {
    const place = rows.length + faults.count;
    if (place >= most) break;
    if (place >= mostRows) throw tooMany(mostRows);
    try {
      rows.push(read(place));
    } catch (error) {
      if (!(error instanceof RowFault || error instanceof InputFault)) throw error;
      faults.add(line, withoutLine(error));
    }
  }
  faults.throwIfAny();
  if (rows.length === 0) throw new LabelledFileError('There are no rows: every line must be a JSON object.');
  return rows;
}

function tooMany(mostRows: number): LabelledFileError {
  const most = mostRows.toLocaleString('en-US');
  return new LabelledFileError(
    `There are more than ${most} rows. Take a part of them, such as the first: --limit ${mostRows}.`,
  );
}

/** A row that is still to be read, so that what is wrong with it has its line. */
interface UnreadRow {
  readonly line: number;
  /** @param place rows before it. @throws RowFault, InputFault */
  readonly read: (place: number) => LabelledRow;
}

/** @throws UsageError */
async function* readUnread(path: string, given: CommandArguments, defaults: RowDefaults): AsyncGenerator<UnreadRow> {
  const lines = readLines(openBytes(path));
  const rows = /\.[ct]sv(\.gz)?$/i.test(path) ? readRecords(lines, given, defaults) : readJsonLines(lines, defaults);
  try {
    yield* rows;
  } catch (error) {
    if (error instanceof RowFault || error instanceof UsageError) throw error;
    if (!(error instanceof InputFault)) throw new UsageError(`${path} cannot be read: ${messageOf(error)}.`);
    yield failing(error);
  }
}

async function* readJsonLines(lines: AsyncIterable<InputLine>, defaults: RowDefaults): AsyncGenerator<UnreadRow> {
  for await (const { number: line, text } of lines) {
    if (text.trim() !== '') yield { line, read: (place) => parseRowText(text, { line, place, defaults }) };
  }
}

/** @throws UsageError */
async function* readRecords(
  lines: AsyncIterable<InputLine>,
  { options, positionals }: CommandArguments,
  defaults: RowDefaults,
): AsyncGenerator<UnreadRow> {
  const { questions } = defaults;
  if (!isRecord(questions))
    throw new UsageError('A CSV file has no questions in it: name a file of them with --questions.');
  const column = options['text-column'];
  let columns: RecordColumns | undefined;
  for await (const row of readRawRows(lines, 'csv', readDelimiter(String(positionals[0]), options))) {
    if (row instanceof InputFault) {
      yield failing(row);
      continue;
    }
    const { line, members } = row;
    columns ??= findColumns(Object.keys(members), questions, column);
    const asked = columns;
    yield {
      line,
      read: (place) => parseLabelledRow(rowOfRecord(members, asked, questions), { line, place, defaults }),
    };
  }
}

/** @throws UsageError */
function findColumns(heading: readonly string[], questions: Record<string, unknown>, column: unknown): RecordColumns {
  try {
    return chooseRecordColumns(heading, questions, typeof column === 'string' ? column : undefined);
  } catch (error) {
    throw error instanceof RowFault ? new UsageError(`The columns do not fit: ${error.message}`) : error;
  }
}

function failing(fault: InputFault): UnreadRow {
  return {
    line: fault.line,
    read: () => {
      throw fault;
    },
  };
}

/** What a fault says, for whoever says its line. */
export function withoutLine({ message }: Error): string {
  return message.replace(/^line \d+: /, '').replace(/\.$/, '');
}

function parseLimit(limit: unknown): number | undefined {
  if (limit === undefined) return undefined;
  if (typeof limit !== 'string' || !/^[1-9]\d*$/.test(limit)) throw new UsageError('--limit takes a number of rows.');
  return Number(limit);
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readFile(path);
    return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${messageOf(error)}.`);
  }
}

/** @throws UsageError */
async function readQuestions(path: string): Promise<unknown> {
  return /\.ya?ml$/i.test(path) ? parsePlainJson((await readQuestionsFile(path)).json) : await readJson(path);
}

async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return parsePlainJson(text);
  } catch {
    throw new UsageError(`${path} is not valid JSON.`);
  }
}

/** The task of the file's name in a tasks.json beside it or above it. */
async function findTask(path: string): Promise<LabelTask | undefined> {
  const name = basename(path).replace(/\.jsonl(\.gz)?$/, '');
  const folder = dirname(path);
  for (const file of [join(folder, 'tasks.json'), join(folder, '..', 'tasks.json')]) {
    if (existsSync(file)) return findLabelTask(await readJson(file), name);
  }
  return undefined;
}
