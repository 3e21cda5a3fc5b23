// Rows of a file as members by name: objects of JSON Lines, or records of CSV under its heading.

import { isRecord, JsonSyntaxError, parsePlainJson } from '../../domain/json.ts';
import { readCsvRecords } from './csv-records.ts';
import { InputFault, type InputLine } from './input-lines.ts';

export interface RawRow {
  readonly line: number;
  /** Of CSV all are strings. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** How a file of rows is written. */
export type RowFormat = 'jsonl' | 'csv';

/** Faults come in their place. After one of JSON the next line is read, after a broken quote nothing is. */
export function readRawRows(
  lines: AsyncIterable<InputLine>,
  format: RowFormat,
  delimiter = ',',
): AsyncGenerator<RawRow | InputFault> {
  return format === 'jsonl' ? readJsonRows(lines) : readCsvRows(lines, delimiter);
}

async function* readJsonRows(lines: AsyncIterable<InputLine>): AsyncGenerator<RawRow | InputFault> {
  for await (const { number: line, text } of lines) {
    if (text.trim() === '') continue;
    yield readJsonRow(line, text);
  }
}

function readJsonRow(line: number, text: string): RawRow | InputFault {
  try {
    const members = parsePlainJson(text);
    if (isRecord(members)) return { line, members };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  return new InputFault(line, 'it is not a JSON object.');
}

async function* readCsvRows(lines: AsyncIterable<InputLine>, delimiter: string): AsyncGenerator<RawRow | InputFault> {
  let heading: readonly string[] | undefined;
  for await (const record of readCsvRecords(lines, delimiter)) {
    if (record instanceof InputFault) {
      yield record;
      continue;
    }
    const { line, cells } = record;
    if (heading === undefined) {
      heading = cells;
      const [only = '', ...more] = cells;
      if (more.length === 0 && /[;\t|]/.test(only)) {
        yield new InputFault(
          line,
          `there is one column, ${JSON.stringify(only)}. Say with --delimiter what separates them.`,
        );
        return;
      }
      const twice = cells.find((name, place) => cells.indexOf(name) !== place);
      if (twice !== undefined) yield new InputFault(line, `two columns are named ${JSON.stringify(twice)}.`);
      continue;
    }
    yield cells.length === heading.length
      ? { line, members: Object.fromEntries(heading.map((name, place) => [name, cells[place] ?? ''])) }
      : new InputFault(line, `it has ${cells.length} values, and the heading has ${heading.length}.`);
  }
}
