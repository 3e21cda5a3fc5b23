// The options of a command that runs over the rows of a file.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RowColumns } from '../client/batch/input-rows.ts';
import type { RowFormat } from '../client/batch/raw-rows.ts';
import { type CommandArguments, type CommandOption, UsageError } from './command.ts';

const FORMATS = ['jsonl', 'csv'] as const;
const DEFAULT_CONCURRENCY = 32;
const MOST_CONCURRENCY = 1024;

export const BATCH_OPTIONS = {
  input: {
    type: 'string',
    help: 'Rows to ask about: .jsonl or .csv, also .gz; -: standard input',
    example: 'rows.csv',
    values: 'file',
  },
  output: {
    type: 'string',
    help: 'Where the answers go: .jsonl or .csv; -: standard output',
    example: 'out.csv',
    values: 'file',
  },
  'text-column': { type: 'string', help: 'Column or member with the document', example: 'message' },
  'id-column': { type: 'string', help: 'Column or member that names a row; id if left out', example: 'ticket' },
  keep: { type: 'string', help: 'Columns or members that go with the answer', example: 'date,sender' },
  delimiter: { type: 'string', help: 'What separates the columns of a CSV input', example: "';'" },
  'input-format': {
    type: 'string',
    help: 'Where the name of the input does not say it',
    example: 'csv',
    values: FORMATS,
  },
  'output-format': {
    type: 'string',
    help: 'Where the name of the output does not say it',
    example: 'csv',
    values: FORMATS,
  },
  concurrency: {
    type: 'string',
    help: `Requests at a time, at most; ${DEFAULT_CONCURRENCY} if left out`,
    example: '8',
  },
} as const satisfies Record<string, CommandOption>;

/** Standard input or output. */
export const STANDARD = '-';

export interface BatchFiles {
  readonly input: string;
  readonly output: string;
  readonly inputFormat: RowFormat;
  readonly outputFormat: RowFormat;
  readonly delimiter: string;
  readonly columns: RowColumns;
  readonly concurrency: number;
}

/** Whether one of these options is there. */
export function isBatch({ options }: CommandArguments): boolean {
  return Object.keys(BATCH_OPTIONS).some((name) => options[name] !== undefined);
}

/** @throws UsageError */
export function readBatchFiles({ options }: CommandArguments): BatchFiles {
  const textOf = (name: keyof typeof BATCH_OPTIONS): string | undefined => {
    const value = options[name];
    return typeof value === 'string' ? value : undefined;
  };
  const [input, output] = [textOf('input'), textOf('output')];
  if (input === undefined) throw new UsageError('A batch needs --input, the file with the rows.');
  if (output === undefined) throw new UsageError('A batch needs --output, where the answers go.');
  checkPaths(input, output);
  return {
    input,
    output,
    inputFormat: formatOf(input, textOf('input-format'), '--input'),
    outputFormat: formatOf(output, textOf('output-format'), '--output'),
    delimiter: readDelimiter(input, options),
    columns: {
      text: textOf('text-column'),
      id: textOf('id-column'),
      kept: textOf('keep')?.split(',') ?? [],
    },
    concurrency: concurrencyOf(textOf('concurrency')),
  };
}

export interface BatchInput {
  readonly path: string;
  readonly format: RowFormat;
  readonly delimiter: string;
}

/** Of a command that takes rows and has no other options of a batch. @throws UsageError */
export function readBatchInput({ options }: CommandArguments): BatchInput {
  const path = String(options['input']);
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`);
  return { path, format: formatOf(path, undefined, '--input'), delimiter: readDelimiter(path, {}) };
}

function checkPaths(input: string, output: string): void {
  if (input !== STANDARD && !existsSync(input)) throw new UsageError(`There is no file ${input}.`);
  if (output.endsWith('.gz')) throw new UsageError('The output is not packed: name it .jsonl or .csv.');
  if (output !== STANDARD && resolve(output) === resolve(input)) {
    throw new UsageError('The output must be another file than the input.');
  }
}

function formatOf(path: string, given: string | undefined, option: string): RowFormat {
  if (given === 'jsonl' || given === 'csv') return given;
  if (given !== undefined) throw new UsageError(`${option}-format is jsonl or csv.`);
  const [, ending = ''] = /\.([a-z]+)(\.gz)?$/i.exec(path) ?? [];
  if (/^(csv|tsv)$/i.test(ending)) return 'csv';
  if (/^(jsonl|ndjson)$/i.test(ending) || path === STANDARD) return 'jsonl';
  throw new UsageError(`${path} could be anything: name it .jsonl or .csv, or say ${option}-format.`);
}

/** What separates the columns of a CSV file. @throws UsageError */
export function readDelimiter(input: string, { delimiter: given }: CommandArguments['options']): string {
  if (typeof given !== 'string') return /\.tsv(\.gz)?$/i.test(input) ? '\t' : ',';
  const delimiter = given === '\\t' ? '\t' : given;
  if (delimiter.length !== 1 || delimiter === '"')
    throw new UsageError('--delimiter takes one character, such as ";".');
  return delimiter;
}

function concurrencyOf(given: string | undefined): number {
  if (given === undefined) return DEFAULT_CONCURRENCY;
  const count = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (count < 1 || count > MOST_CONCURRENCY) {
    throw new UsageError(`--concurrency takes a number from 1 to ${MOST_CONCURRENCY}.`);
  }
  return count;
}
