// Records of a CSV file (RFC 4180) with the lines they begin on. Where a record ends is decided here, by its quotes, so
// that a broken quote is told where it stands; what is in a record, the library reads.

import { type CsvError, parse } from 'csv-parse/sync';
import { InputFault, type InputLine, LONGEST_ROW_BYTES } from './input-lines.ts';

export interface CsvRecord {
  /** Of its beginning. */
  readonly line: number;
  readonly cells: readonly string[];
}

interface WholeRecord {
  readonly line: number;
  readonly text: string;
}

/** Records that are read at once. */
const CHUNK_RECORDS = 256;

/** Empty lines are passed over. Faults come in their place, and end what is read. */
export async function* readCsvRecords(
  lines: AsyncIterable<InputLine>,
  delimiter: string,
): AsyncGenerator<CsvRecord | InputFault> {
  let chunk: WholeRecord[] = [];
  for await (const record of joinLines(lines)) {
    if (!(record instanceof InputFault)) chunk.push(record);
    if (chunk.length < CHUNK_RECORDS && !(record instanceof InputFault)) continue;
    yield* readChunk(chunk, delimiter);
    chunk = [];
    if (record instanceof InputFault) yield record;
  }
  yield* readChunk(chunk, delimiter);
}

/** A line belongs to the record before it as long as a quote is open there. */
async function* joinLines(lines: AsyncIterable<InputLine>): AsyncGenerator<WholeRecord | InputFault> {
  let open: { line: number; texts: string[]; length: number } | undefined;
  for await (const { number, text } of lines) {
    const isTurned = countQuotes(text) % 2 === 1;
    if (open === undefined) {
      if (isTurned) open = { line: number, texts: [text], length: text.length };
      else if (text.trim() !== '') yield { line: number, text };
      continue;
    }
    open.texts.push(text);
    open.length += text.length;
    if (isTurned) {
      yield { line: open.line, text: open.texts.join('\n') };
      open = undefined;
    } else if (open.length > LONGEST_ROW_BYTES) break;
  }
  if (open !== undefined) yield new InputFault(open.line, 'a quote (") is opened in this row and never closed.');
}

function* readChunk(chunk: readonly WholeRecord[], delimiter: string): Generator<CsvRecord | InputFault> {
  try {
    const text = chunk.map((record) => `${record.text}\n`).join('');
    const options = { delimiter, record_delimiter: ['\r\n', '\n'], relax_column_count: true };
    const records = parse(text, options) as string[][];
    yield* records.map((cells, place) => ({ line: chunk[place]?.line ?? 0, cells }));
  } catch (error) {
    const [first, ...rest] = chunk;
    if (first === undefined) return;
    // Which of them it is shows by reading each alone.
    if (rest.length > 0) for (const record of chunk) yield* readChunk([record], delimiter);
    else yield new InputFault(first.line, describeCsvError(error));
  }
}

function describeCsvError(error: unknown): string {
  switch ((error as Partial<CsvError>).code) {
    case 'INVALID_OPENING_QUOTE':
      return 'a quote (") stands in the middle of a value that does not begin with one. Put the value in quotes and double those within.';
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'text follows a closing quote ("). Quotes within a value must be doubled ("").';
    default:
      throw error;
  }
}

function countQuotes(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count++;
  return count;
}
