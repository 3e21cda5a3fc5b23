// The output of a batch: repaired where a run was killed while it wrote, read for the rows that are there, then continued.

import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { IdSet } from './id-set.ts';
import { InputFault, readLines } from './input-lines.ts';
import { type RowFormat, readRawRows } from './raw-rows.ts';

/** What a run finds of those before it. */
export interface WrittenRows {
  /** Of rows that need not be asked again. */
  readonly ids: IdSet;
  /** Of them, rows with an error. */
  readonly errors: number;
  /** Of a row that had been cut off, and is gone. */
  readonly repairedBytes: number;
}

const QUOTE = 0x22;
const LINE_FEED = 0x0a;

export class OutputFile {
  readonly #file: FileHandle;
  #end: number;

  private constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  /** Opens it, makes it if need be, and cuts off a row that is not whole. */
  static async open(path: string, format: RowFormat): Promise<{ output: OutputFile; written: WrittenRows }> {
    const file = await open(path, 'a+');
    try {
      const { size } = await file.stat();
      const end = await findEndOfRows(path, format);
      if (end < size) await file.truncate(end);
      const { ids, errors } = await readWritten(path, format);
      return { output: new OutputFile(file, end), written: { ids, errors, repairedBytes: size - end } };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Whether nothing was written yet, a heading included. */
  get isEmpty(): boolean {
    return this.#end === 0;
  }

  async append(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    await this.#file.appendFile(bytes);
    this.#end += bytes.length;
  }

  async close(): Promise<void> {
    await this.#file.sync();
    await this.#file.close();
  }
}

/** One past the last line feed that is not within quotes. */
async function findEndOfRows(path: string, format: RowFormat): Promise<number> {
  let [end, position, isQuoted] = [0, 0, false];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    if (format === 'jsonl') {
      const last = chunk.lastIndexOf(LINE_FEED);
      if (last >= 0) end = position + last + 1;
    } else {
      for (const [at, byte] of chunk.entries()) {
        if (byte === QUOTE) isQuoted = !isQuoted;
        else if (byte === LINE_FEED && !isQuoted) end = position + at + 1;
      }
    }
    position += chunk.length;
  }
  return end;
}

/** @throws InputFault where it is not what a batch writes */
async function readWritten(path: string, format: RowFormat): Promise<Pick<WrittenRows, 'ids' | 'errors'>> {
  const ids = new IdSet();
  let errors = 0;
  for await (const row of readRawRows(readLines(createReadStream(path)), format)) {
    if (row instanceof InputFault) throw row;
    const { id, error } = row.members;
    if (id === undefined) throw new InputFault(row.line, 'it has no id.');
    ids.add(String(id));
    if (error !== undefined && error !== '') errors++;
  }
  return { ids, errors };
}
