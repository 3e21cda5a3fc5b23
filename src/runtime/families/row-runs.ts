// Rows of several callers in one run: which go together, and what becomes of them where the device has no memory for all.

import type { AppError } from '../../domain/errors.ts';
import { OutOfDeviceMemory } from '../device-faults.ts';

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

/** A text that is too long fails its own task alone. */
export function valueOrError<T>(action: () => T): T | Error {
  try {
    return action();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
