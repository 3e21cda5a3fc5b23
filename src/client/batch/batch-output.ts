// The output of a batch from one run to the next: whose it is, what is in it, and that nobody else writes to it.

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { IdSet } from './id-set.ts';
import { InputFault } from './input-lines.ts';
import { type InputRow, type InputSurvey, idText } from './input-rows.ts';
import { OutputFile, type WrittenRows } from './output-file.ts';
import type { RowFormat } from './raw-rows.ts';
import { type BatchIdentity, type BatchTraits, OutputTaken, RunFile } from './run-file.ts';

export interface BatchOutput {
  readonly batchId: string;
  readonly written: Omit<WrittenRows, 'ids'> & { readonly rows: number };
  isDone(row: InputRow): boolean;
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface OutputOptions {
  readonly path: string;
  readonly format: RowFormat;
  readonly traits: BatchTraits;
  /** The first line of a new file; may be empty. */
  readonly heading: string;
  /** Reads the input, once the output is ours. @returns undefined for what can be read only once */
  readonly survey: (beginRows: number) => Promise<InputSurvey | undefined>;
}

/** @throws OutputTaken, what `survey` throws */
export async function openBatchOutput(options: OutputOptions): Promise<BatchOutput> {
  const runPath = `${options.path}.run`;
  const run = RunFile.open(runPath);
  try {
    return await openUnderLock(options, run);
  } catch (error) {
    const isNew = run.identity === undefined;
    run.close();
    if (isNew) rmSync(runPath, { force: true });
    throw error;
  }
}

/** For an output that can be written only once. */
export function freshOutput(write: (text: string) => Promise<void>): BatchOutput {
  const written = { rows: 0, errors: 0, repairedBytes: 0 };
  return { batchId: randomUUID(), written, isDone: () => false, write, close: async () => undefined };
}

async function openUnderLock({ path, format, traits, heading, survey }: OutputOptions, run: RunFile) {
  const known = run.identity;
  const input = await survey(Number(known?.inputRows ?? 0));
  const { output, written } = await openFile(path, format);
  try {
    const difference = known === undefined ? undefined : findDifference(known, traits, input);
    if (!output.isEmpty && known === undefined) {
      throw new OutputTaken(`${path} is there already and no batch wrote it. Choose another --output.`);
    }
    if (!output.isEmpty && difference !== undefined) {
      throw new OutputTaken(`${path} belongs to another batch: ${difference}. Choose another --output.`);
    }
    // With nothing written, another batch may begin; the same one keeps its id, for what a run before may have asked.
    const id = known === undefined || difference !== undefined ? randomUUID() : known.id;
    run.keep({ ...traits, id, inputRows: String(input?.rows ?? 0), inputDigest: input?.digest ?? '' });
    if (output.isEmpty && heading !== '') await output.append(heading);
    return toBatchOutput(id, { output, written, run });
  } catch (error) {
    await output.close();
    throw error;
  }
}

async function openFile(path: string, format: RowFormat) {
  try {
    return await OutputFile.open(path, format);
  } catch (error) {
    if (!(error instanceof InputFault)) throw error;
    throw new OutputTaken(`${path} is not the output of a batch: ${error.message} Choose another --output.`);
  }
}

interface OpenParts {
  readonly output: OutputFile;
  readonly written: WrittenRows;
  readonly run: RunFile;
}

function toBatchOutput(batchId: string, { output, written, run }: OpenParts): BatchOutput {
  const { errors, repairedBytes } = written;
  const ids: IdSet = written.ids;
  return {
    batchId,
    written: { rows: ids.size, errors, repairedBytes },
    isDone: (row) => ids.has(idText(row)),
    write: (text) => output.append(text),
    async close() {
      await output.close();
      run.close();
    },
  };
}

/** In the order in which a person would look. */
const TRAITS: Readonly<Record<keyof BatchTraits, string>> = {
  command: 'it is of another command',
  model: 'it has another model',
  questions: 'what is asked is not the same',
  columns: 'its columns are others',
};

/** Rows may have been added to the end of the input since. */
function findDifference(known: BatchIdentity, traits: BatchTraits, input: InputSurvey | undefined): string | undefined {
  const names = Object.keys(TRAITS) as (keyof BatchTraits)[];
  const other = names.find((name) => known[name] !== traits[name]);
  if (other !== undefined) return TRAITS[other];
  if (input === undefined || known.inputDigest === '') return undefined;
  return input.beginDigest === known.inputDigest ? undefined : 'its input had other rows';
}
