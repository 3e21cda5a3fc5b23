// The rows of a batch: which member is the document, which the id, which go with the answer. A row that lacks one is a fault
// with its line.

import { createHash, type Hash } from 'node:crypto';
import { IdSet } from './id-set.ts';
import { InputFault } from './input-lines.ts';
import type { RawRow } from './raw-rows.ts';

export interface InputRow {
  readonly line: number;
  /** As it was given; the number of the row where the file has no ids. */
  readonly id: string | number;
  readonly text: string;
  /** In the order that was asked for. */
  readonly kept: readonly unknown[];
}

/** Names of members or columns. */
export interface RowColumns {
  /** Absent: the first of TEXT_COLUMNS that the first row has. */
  readonly text?: string | undefined;
  /** Absent: `id`, if the first row has it. */
  readonly id?: string | undefined;
  readonly kept: readonly string[];
}

const TEXT_COLUMNS = ['state', 'text', 'document', 'input'];
const ID_COLUMN = 'id';

/** Ids of numbers and texts are the same where they read the same. */
export function idText({ id }: Pick<InputRow, 'id'>): string {
  return String(id);
}

/** Faults come in their place. */
export async function* readInputRows(
  raw: AsyncIterable<RawRow | InputFault>,
  columns: RowColumns,
): AsyncGenerator<InputRow | InputFault> {
  const ids = new IdSet();
  let names: { readonly text: string; readonly id: string | undefined } | undefined;
  let number = 0;
  for await (const row of raw) {
    if (row instanceof InputFault) {
      yield row;
      continue;
    }
    number++;
    names ??= chooseColumns(row, columns);
    try {
      const read = readRow(row, { ...names, kept: columns.kept, number });
      if (!ids.add(idText(read))) throw new InputFault(row.line, `the id ${JSON.stringify(read.id)} is there twice.`);
      yield read;
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      yield error;
    }
  }
}

/** @throws InputFault when there is no document to be found */
export function chooseColumns({ line, members }: RawRow, columns: RowColumns) {
  const has = (name: string): boolean => Object.hasOwn(members, name);
  const names = Object.keys(members);
  const { text = TEXT_COLUMNS.find(has) ?? (names.length === 1 ? names[0] : undefined) } = columns;
  const missing = [text, columns.id, ...columns.kept].find((name) => name !== undefined && !has(name));
  const there = `There are ${names.map((name) => JSON.stringify(name)).join(', ') || 'none'}.`;
  if (text === undefined) {
    throw new InputFault(line, `which column is the document? Name it with --text-column. ${there}`);
  }
  if (missing !== undefined) throw new InputFault(line, `there is no column ${JSON.stringify(missing)}. ${there}`);
  return { text, id: columns.id ?? (has(ID_COLUMN) ? ID_COLUMN : undefined) };
}

interface RowReading {
  readonly text: string;
  readonly id: string | undefined;
  readonly kept: readonly string[];
  readonly number: number;
}

/** @throws InputFault */
function readRow({ line, members }: RawRow, { text: name, id: idName, kept, number }: RowReading): InputRow {
  const of = (member: string): unknown => (Object.hasOwn(members, member) ? members[member] : undefined);
  const text = of(name);
  if (typeof text !== 'string') throw new InputFault(line, `${JSON.stringify(name)} must be a text.`);
  const id = idName === undefined ? number : of(idName);
  if (idName === undefined && of(ID_COLUMN) !== undefined) {
    throw new InputFault(line, 'it has an id, and the first row has none.');
  }
  if ((typeof id !== 'string' && typeof id !== 'number') || id === '') {
    throw new InputFault(line, `it has no id: ${JSON.stringify(idName)} must be a text or a number.`);
  }
  if (typeof id === 'number' && !Number.isSafeInteger(id)) {
    throw new InputFault(line, 'its id is a number that is not kept exactly. Write it as a text.');
  }
  return { line, id, text, kept: kept.map((member) => of(member) ?? null) };
}

/** What a file of rows holds. */
export interface InputSurvey {
  readonly rows: number;
  /** Of ids and documents, in their order. */
  readonly digest: string;
  /** Of the first rows that were asked for; undefined: there are fewer. */
  readonly beginDigest: string | undefined;
  /** The first of them. */
  readonly faults: readonly InputFault[];
  readonly moreFaults: number;
}

const MOST_FAULTS_TOLD = 10;

/** What ends the reading is one more fault. */
async function* withThrownFaults(rows: AsyncIterable<InputRow | InputFault>): AsyncGenerator<InputRow | InputFault> {
  try {
    yield* rows;
  } catch (error) {
    if (!(error instanceof InputFault)) throw error;
    yield error;
  }
}

/** Reads all rows once, before anything is asked. @param begin rows whose digest is wanted */
export async function surveyRows(rows: AsyncIterable<InputRow | InputFault>, begin: number): Promise<InputSurvey> {
  const sum: Hash = createHash('sha256');
  const faults: InputFault[] = [];
  let [count, faultCount, beginDigest]: [number, number, string | undefined] = [0, 0, undefined];
  const look = (): void => {
    if (count === begin) beginDigest = sum.copy().digest('hex');
  };
  look();
  for await (const row of withThrownFaults(rows)) {
    if (row instanceof InputFault) {
      faultCount++;
      if (faults.length < MOST_FAULTS_TOLD) faults.push(row);
      continue;
    }
    count++;
    sum.update(`${JSON.stringify([idText(row), row.text])}\n`);
    look();
  }
  return { rows: count, digest: sum.digest('hex'), beginDigest, faults, moreFaults: faultCount - faults.length };
}
