// Rows of several callers in one run: which go together, and what becomes of them where the device has no memory for all.

import { AppError, toErrorRecord } from '../../domain/errors.ts';
import { OutOfDeviceMemory } from '../device-faults.ts';
import type { TaskReply } from '../messages.ts';
import type { GraphSession } from '../session.ts';

/** How a model's rows are run on a device. */
export interface SharedRows {
  /** Of a run, padding included. */
  readonly mostTokens: number;
  /** Each row by itself: the same bits whoever else asks. */
  readonly isExact: boolean;
  /** The graph in full precision, for rows that overflow in half; undefined: there is none. */
  readonly precise: () => Promise<GraphSession | undefined>;
}

/** Of the tokens of a run: what may be padding before a further run is the better choice. */
const MOST_PADDING = 0.25;

/**
 * Rows of like length together. @param sizeOf tokens of a row @param mostTokens of a run, padding included
 * @returns runs of at least one row
 */
export function packByLength<Row>(rows: readonly Row[], sizeOf: (row: Row) => number, mostTokens: number): Row[][] {
  const runs: Row[][] = [];
  let [longest, tokens] = [0, 0];
  for (const row of [...rows].sort((a, b) => sizeOf(b) - sizeOf(a))) {
    const run = runs.at(-1);
    const padded = (run?.length ?? 0) * longest + longest;
    const padding = padded - tokens - sizeOf(row);
    if (run === undefined || padded > mostTokens || padding > mostTokens * MOST_PADDING) {
      runs.push([row]);
      [longest, tokens] = [sizeOf(row), sizeOf(row)];
    } else {
      run.push(row);
      tokens += sizeOf(row);
    }
  }
  return runs;
}

/**
 * Runs rows together; where the device has no memory for all of them, each half once more.
 * @returns `[rows]`: what was found, or why there was no room for it @throws whatever else the run throws
 */
export async function runTogether<Row, Found>(
  rows: readonly Row[],
  run: (rows: readonly Row[]) => Promise<readonly Found[]>,
): Promise<readonly (Found | AppError)[]> {
  try {
    return await run(rows);
  } catch (error) {
    if (!(error instanceof OutOfDeviceMemory)) throw error;
    if (rows.length === 1) return [error];
    const middle = Math.ceil(rows.length / 2);
    const halves = [rows.slice(0, middle), rows.slice(middle)];
    const found: (Found | AppError)[] = [];
    for (const half of halves) found.push(...(await runHalf(half, run)));
    return found;
  }
}

async function runHalf<Row, Found>(
  half: readonly Row[],
  run: (rows: readonly Row[]) => Promise<readonly Found[]>,
): Promise<readonly (Found | AppError)[]> {
  try {
    return await run(half);
  } catch (error) {
    if (!(error instanceof OutOfDeviceMemory)) throw error;
    return half.map(() => error);
  }
}

interface PackedRuns<Row, Found> {
  /** Tokens of a row. */
  readonly sizeOf: (row: Row) => number;
  readonly mostTokens: number;
  readonly run: (rows: readonly Row[]) => Promise<readonly Found[]>;
}

/** Rows of several tasks, in as few runs as they fit into. */
export async function runPacked<Row extends object, Found>(
  rows: readonly Row[],
  { sizeOf, mostTokens, run }: PackedRuns<Row, Found>,
): Promise<FoundRows<Row, Found>> {
  const found = new FoundRows<Row, Found>();
  for (const some of packByLength(rows, sizeOf, mostTokens)) {
    const results = await runTogether(some, run);
    for (const [place, row] of some.entries()) found.set(row, results[place]);
  }
  return found;
}

/** What was found of each row, or why there was no room for it. */
export class FoundRows<Row extends object, Found> {
  readonly #found = new Map<Row, Found | AppError>();

  set(row: Row, found: Found | AppError | undefined): void {
    if (found !== undefined) this.#found.set(row, found);
  }

  /** @throws AppError where there was no room */
  take(row: Row): Found {
    const found = this.#found.get(row);
    if (found === undefined) throw new Error('a row was left out of a run');
    if (found instanceof AppError) throw found;
    return found;
  }
}

interface SoundRuns<Row, Found> {
  readonly session: GraphSession;
  /** Default: there is no other */
  readonly precise?: SharedRows['precise'] | undefined;
  readonly run: (session: GraphSession, rows: readonly Row[]) => Promise<readonly Found[]>;
  /** Whether it holds numbers alone. */
  readonly isSound: (found: Found) => boolean;
}

/** Rows in one run; those that overflow in half precision are run again, each by itself, in full. @returns `[rows]` */
export async function runSoundly<Row, Found>(
  rows: readonly Row[],
  { session, precise, run, isSound }: SoundRuns<Row, Found>,
): Promise<Found[]> {
  const found = [...(await run(session, rows))];
  if (found.length !== rows.length)
    throw new Error(`the graph gave ${found.length} rows where ${rows.length} were due`);
  if (precise === undefined || found.every(isSound)) return found;
  const full = await precise();
  if (full === undefined) return found;
  for (const [place, row] of rows.entries()) {
    const [again] = isSound(found[place] as Found) ? [] : await run(full, [row]);
    if (again !== undefined) found[place] = again;
  }
  return found;
}

export function isSound(values: Float32Array): boolean {
  return values.every(Number.isFinite);
}

/** What a run gave, by its rows: each has as many values. */
export function splitRows(values: Float32Array, rows: number): Float32Array[] {
  const size = values.length / rows;
  return Array.from({ length: rows }, (_, row) => values.subarray(row * size, (row + 1) * size));
}

/** What becomes of one of several tasks. */
export function toReply<Read>(
  read: Read | Error,
  toValue: (read: Read) => Extract<TaskReply, { value: unknown }>['value'],
): TaskReply {
  try {
    if (read instanceof Error) throw read;
    return { value: toValue(read) };
  } catch (error) {
    return { error: toErrorRecord(error) };
  }
}

/** A text that is too long fails its own task alone. */
export function valueOrError<T>(action: () => T): T | Error {
  try {
    return action();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
