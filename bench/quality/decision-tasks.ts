// A folder of decision data (tasks.json, train/, heldout/) as labelled rows, as models/training/umpire_training/tasks.py
// reads it. Nothing of it is copied anywhere.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { findLabelTask } from '../../src/quality/label-task.ts';
import { type LabelledRow, parseLabelledRows } from '../../src/quality/labelled-row.ts';

export interface DecisionTask {
  readonly name: string;
  /** Every question of them has the task's name. */
  readonly rows: readonly LabelledRow[];
}

const entrySchema = z.object({ task: z.string(), split: z.enum(['train', 'heldout']), licence: z.string() });
const listSchema = z.array(entrySchema);

/** As models/training/umpire_training/licences.py: for temperatures it does not matter whose own licence is known. */
const UNCLEAR_LICENCE = /not stated|twitter|gpl/i;

/** Tasks that were never trained on, in the order of tasks.json. @param rows of each, from the first */
export function readHeldoutTasks(folder: string, rows: number): DecisionTask[] {
  return readTasks(folder, rows, ({ split }) => split === 'heldout');
}

/** Tasks that may be trained on. Training leaves out their first 200 rows. @param rows of each, from the first */
export function readTrainingTasks(folder: string, rows: number): DecisionTask[] {
  if (rows === 0) return [];
  return readTasks(folder, rows, ({ split, licence }) => split === 'train' && !UNCLEAR_LICENCE.test(licence));
}

/** A training task by its name, from the first folder that lists it. @param rows from the first. @throws where none does */
export function readNamedTask(folders: readonly string[], name: string, rows: number): DecisionTask {
  for (const folder of folders) {
    const [task] = readTasks(folder, rows, (entry) => entry.task === name && entry.split === 'train');
    if (task !== undefined) return task;
  }
  throw new Error(`No tasks.json lists the training task "${name}".`);
}

/** Held-out tasks of labels with so many wordings: the same rows in each. @param rows of each task, from the first */
export function readWordedTasks(
  folder: string,
  rows: number,
  wordings: number,
): { readonly task: string; readonly inWords: readonly (readonly LabelledRow[])[] }[] {
  const list = readList(folder);
  return listSchema.parse(list).flatMap(({ task: name, split }) => {
    const task = findLabelTask(list, name);
    if (split !== 'heldout' || task === undefined || task.instructions.length < wordings) return [];
    const text = readRows(folder, split, name);
    const inWords = task.instructions
      .slice(0, wordings)
      .map((words) => parseLabelledRows(text, { task: { ...task, instructions: [words] } }, rows));
    return [{ task: name, inWords }];
  });
}

function readList(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, 'tasks.json'), 'utf8'));
}

function readRows(folder: string, split: string, name: string): string {
  return gunzipSync(readFileSync(join(folder, split, `${name}.jsonl.gz`))).toString('utf8');
}

function readTasks(
  folder: string,
  limit: number,
  isWanted: (entry: z.infer<typeof entrySchema>) => boolean,
): DecisionTask[] {
  const list = readList(folder);
  return listSchema
    .parse(list)
    .filter(isWanted)
    .map(({ task: name, split }) => {
      const text = readRows(folder, split, name);
      const task = findLabelTask(list, name);
      const rows = parseLabelledRows(text, task === undefined ? {} : { task }, limit);
      return { name, rows: rows.map((row) => nameQuestions(row, name)) };
    });
}

function nameQuestions(row: LabelledRow, task: string): LabelledRow {
  return { ...row, questions: row.questions.map((question) => ({ ...question, task })) };
}
