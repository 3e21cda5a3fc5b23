// Vectors and zero-shot probabilities of the learning tasks, by the server's engine: minutes of work, hence kept in a
// folder, a file for each task, which the scripts beside the bench read too.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinVectors } from '../../../src/learning/document-vector.ts';
import { type FrozenQuestion, type FrozenRow, hashOfState, identify } from '../../../src/learning/frozen-rows.ts';
import { readFrozenRows, writeFrozenRows } from '../../../src/learning/rows-file.ts';
import type { JudgedModels } from '../judged-models.ts';
import type { LearningTask } from './learning-tasks.ts';

/** Written this often while a task is read: what was read is not read again after a break. */
const ROWS_BETWEEN_WRITES = 100;

export interface FrozenTask {
  readonly name: string;
  /** Its rows stand in the order of the task's. */
  readonly frozen: FrozenQuestion;
  /** Dimensions of what a row's vector is made of: of the base's parts, and last of the embedder's. */
  readonly parts: readonly number[];
}

interface FreezeOptions {
  /** Where frozen rows are kept; they belong to one digest of each model. */
  readonly folder: string;
  /** Rows of the task, from the first. */
  readonly rows: number;
  readonly say: (text: string) => void;
}

export async function freezeTask(
  models: Pick<JudgedModels, 'freeze' | 'hidden' | 'embedDimensions'>,
  task: LearningTask,
  { folder, rows, say }: FreezeOptions,
): Promise<FrozenTask> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${nameFile(task.name)}.rows`);
  const { type, asked, options, order } = identify(task.question);
  const inOrder = (values: readonly number[]) => order.map((place) => values[place] ?? 0);
  const wanted = task.rows.slice(0, rows);
  const states = wanted.map(({ state }) => hashOfState(state));
  const kept = existsSync(file) ? readKept(file, { asked, options, states }) : [];
  const found: FrozenRow[] = [...kept];
  const keep = () => {
    writeFileSync(`${file}.new`, writeFrozenRows([{ type, asked, options, rows: found }]));
    renameSync(`${file}.new`, file);
  };
  for (const [at, { state, target }] of wanted.entries()) {
    if (at < kept.length) continue;
    if (at % ROWS_BETWEEN_WRITES === 0) {
      say(`${task.name}: ${at} of ${wanted.length} rows read`);
      if (at > 0) keep();
    }
    const { zeroShot, vectors } = await models.freeze(state, task.question);
    const vector = joinVectors(vectors);
    found.push({
      line: at + 1,
      state: states[at] ?? '',
      vector,
      zeroShot: inOrder(zeroShot),
      target: inOrder(target),
    });
  }
  if (found.length > kept.length) keep();
  const { hidden, embedDimensions } = models;
  const ofBase = (found[0]?.vector.length ?? 0) - embedDimensions;
  const parts = [...new Array<number>(ofBase / hidden).fill(hidden), embedDimensions];
  return { name: task.name, frozen: { type, asked, options, rows: found }, parts };
}

export function nameFile(task: string): string {
  return task.replaceAll(/[^a-z0-9]+/gi, '-');
}

interface WantedRows extends Pick<FrozenQuestion, 'asked' | 'options'> {
  readonly states: readonly string[];
}

/** The first rows that are those wanted. @throws LearnedFileError */
function readKept(file: string, { asked, options, states }: WantedRows): FrozenRow[] {
  const [question] = readFrozenRows(readFileSync(file));
  if (question?.asked !== asked || question.options.join() !== options.join()) return [];
  const differs = states.findIndex((state, at) => question.rows[at]?.state !== state);
  const same = question.rows.slice(0, differs < 0 ? states.length : differs);
  return same.map((row, at) => ({ ...row, line: at + 1 }));
}
