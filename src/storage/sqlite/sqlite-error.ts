// Tells what SQLite reports apart: the file cannot be used just now, or a statement is wrong.

/** Result codes of SQLite (https://sqlite.org/rescode.html) that say: not now, or not with this file. */
const UNAVAILABLE = new Set([
  5, // busy
  6, // locked
  7, // out of memory
  8, // read-only
  10, // input or output
  11, // corrupt
  13, // full
  14, // cannot be opened
  15, // protocol
  26, // no database
]);

export const SQLITE_BUSY = 5;

/** @returns the primary result code; undefined when the error is not SQLite's */
export function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}

export function isUnavailable(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code !== undefined && UNAVAILABLE.has(code);
}
