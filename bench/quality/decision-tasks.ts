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

/** Weights may be used commercially: what has no clear licence is only measured on. */
const UNCLEAR_LICENCE = /not stated|twitter/i;

/** Tasks that were never trained on, in the order of tasks.json. @param rows of each, from the first */
export function readHeldoutTasks(folder: string, rows: number): DecisionTask[] {
  return readTasks(folder, rows, ({ split }) => split === 'heldout');
}

/** Tasks that may be trained on. Training leaves out their first 200 rows. @param rows of each, from the first */
export function readTrainingTasks(folder: string, rows: number): DecisionTask[] {
  if (rows === 0) return [];
  return readTasks(folder, rows, ({ split, licence }) => split === 'train' && !UNCLEAR_LICENCE.test(licence));
}

function readTasks(
  folder: string,
  limit: number,
  isWanted: (entry: z.infer<typeof entrySchema>) => boolean,
): DecisionTask[] {
  const list: unknown = JSON.parse(readFileSync(join(folder, 'tasks.json'), 'utf8'));
  return listSchema
    .parse(list)
    .filter(isWanted)
    .map(({ task: name, split }) => {
      const text = gunzipSync(readFileSync(join(folder, split, `${name}.jsonl.gz`))).toString('utf8');
      const task = findLabelTask(list, name);
      const rows = parseLabelledRows(text, task === undefined ? {} : { task }, limit);
      return { name, rows: rows.map((row) => nameQuestions(row, name)) };
    });
}

function nameQuestions(row: LabelledRow, task: string): LabelledRow {
  return { ...row, questions: row.questions.map((question) => ({ ...question, task })) };
}
