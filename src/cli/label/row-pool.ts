// The rows of a sitting: each document once, as many as the model is to read, read once for all sittings.

import { forEachAtOnce, type RowRefusal, UnansweredRow } from '../../quality/asking.ts';
import type { LabelledRow } from '../../quality/labelled-row.ts';
import { keyOfItem } from './item-key.ts';
import type { LabelMemory } from './label-memory.ts';
import type { ReadRow } from './labelling.ts';
import type { OpenRow } from './open-rows.ts';
import type { RowReader } from './row-reader.ts';

export interface RowPool {
  /** In the order of the file. */
  readonly rows: readonly OpenRow[];
  /** Documents of the file that are not among them. */
  readonly leftOut: number;
}

/**
 * Rows with something to ask, and those with answers, which say what was asked already: so many of each at most, from all
 * over the file.
 * @param written answers that there are
 */
export function choosePool(rows: readonly OpenRow[], written: readonly LabelledRow[], limit: number): RowPool {
  const answered = new Set(
    written.flatMap(({ state, questions }) => questions.map(({ question }) => keyOfItem(state, question))),
  );
  const known = new Set<string>();
  const [open, done]: [OpenRow[], OpenRow[]] = [[], []];
  for (const row of rows) {
    const keys = row.questions.map(({ question }) => keyOfItem(row.state, question));
    const document = keys.join();
    if (known.has(document)) continue;
    known.add(document);
    (keys.every((key) => answered.has(key)) ? done : open).push(row);
  }
  const chosen = [...spread(open, limit), ...spread(done, limit)].sort((a, b) => a.line - b.line);
  return { rows: chosen, leftOut: known.size - chosen.length };
}

/** Evenly from the whole list: files are often sorted by what is asked. */
function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, place) => items[Math.floor((place * items.length) / most)] as T);
}

export interface PoolReading {
  readonly memory: LabelMemory;
  readonly reader: RowReader;
  readonly onProgress: (done: number, total: number) => void;
  /** Whether the person does not want to wait; what was read is kept. */
  readonly isStopped: () => boolean;
}

/** Whether the model has something to do. */
export function isAllRead(rows: readonly OpenRow[], memory: LabelMemory): boolean {
  return rows.every((row) => memory.findReading(row.state, questionsOf(row)) !== undefined);
}

/** Reads what was not read before, from all over the file at first. @returns rows that the model refuses, and why */
export async function readPool(rows: readonly OpenRow[], reading: PoolReading): Promise<readonly RowRefusal[]> {
  const { memory, reader, onProgress, isStopped } = reading;
  const unread = shuffle(rows.filter((row) => memory.findReading(row.state, questionsOf(row)) === undefined));
  const refusals: RowRefusal[] = [];
  let done = rows.length - unread.length;
  onProgress(done, rows.length);
  await forEachAtOnce(unread, reader.atOnce, async (row) => {
    if (isStopped()) return;
    try {
      const questions = questionsOf(row);
      memory.keepReading(row.state, questions, await reader.read(row.state, questions));
    } catch (error) {
      if (!(error instanceof UnansweredRow)) throw error;
      refusals.push({ line: row.line, message: error.message });
    }
    onProgress(++done, rows.length);
  });
  return refusals.sort((a, b) => a.line - b.line);
}

/** The same for the same documents. */
function shuffle(rows: readonly OpenRow[]): OpenRow[] {
  const keyed = rows.map((row) => ({
    row,
    key: row.questions.map(({ question }) => keyOfItem(row.state, question)).join(),
  }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row);
}

/** Those that the model could read, in the order of the file, whichever it read first. */
export function findReadRows(rows: readonly OpenRow[], memory: LabelMemory): ReadRow[] {
  return rows.flatMap((row) => {
    const reading = memory.findReading(row.state, questionsOf(row));
    return reading === undefined ? [] : [{ row, reading }];
  });
}

function questionsOf({ questions }: OpenRow) {
  return questions.map(({ question }) => question);
}
