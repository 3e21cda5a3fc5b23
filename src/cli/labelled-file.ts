// A labelled file from disk: plain or gzip, with what its rows leave out: shared questions, or the tasks.json of a
// collection. The rows themselves are quality/labelled-row.ts's.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { messageOf } from '../domain/errors.ts';
import { parsePlainJson } from '../domain/json.ts';
import type { RowRefusal } from '../quality/asking.ts';
import { findLabelTask, type LabelTask } from '../quality/label-task.ts';
import { type LabelledRow, parseLabelledRows } from '../quality/labelled-row.ts';
import type { CommandOption } from './command.ts';
import { type CommandArguments, UsageError } from './command.ts';
import type { Program } from './program.ts';

export const LABELLED_FILE_OPTIONS = {
  questions: {
    type: 'string',
    help: 'The questions of all rows, as in a request',
    example: 'file.json',
    values: 'file',
  },
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
  'With --questions a row is {"state": "…", "gold": {"team": "billing", "urgent": false}}. docs/guides/evaluation.md has more.',
].join('\n');

/** A line each, on standard error. */
export function tellRefusals(refusals: readonly RowRefusal[], program: Program): void {
  for (const { line, message } of refusals) program.writeError(`line ${line} was not answered: ${message}\n`);
}

/** @throws UsageError, LabelledFileError */
export async function readLabelledFile({ options, positionals }: CommandArguments): Promise<LabelledRow[]> {
  const [path, ...others] = positionals;
  if (path === undefined || others.length > 0) throw new UsageError('It takes one file of labelled rows.');
  const { questions, limit } = options;
  const text = await readText(path);
  const task = await findTask(path);
  const defaults = {
    ...(typeof questions === 'string' ? { questions: await readJson(questions) } : {}),
    ...(task === undefined ? {} : { task }),
  };
  return parseLabelledRows(text, defaults, parseLimit(limit));
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
