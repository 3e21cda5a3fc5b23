// Which questions about which documents share a run: rows of windows, each once however many ask about it, and rows of
// questions beside them. Pure.

import type { Chunk } from './prompt.ts';
import { countTokens, type Window } from './windows.ts';

/** One chunk of a question, and the windows it is asked about: the document's, then its own instructions'. */
export interface DecisionRow {
  readonly chunk: Chunk;
  /** At least one. */
  readonly windows: readonly Window[];
  /** How many of them are the document's. */
  readonly stateWindows: number;
}

export interface RunLimits {
  /** Of windows and questions together, padding included. */
  readonly tokens: number;
  /** Each row by itself: the same bits whoever else asks. */
  readonly isExact: boolean;
}

/** Each question's row has keys and values of its own in the device's memory: so many for each token of the limit. */
const KEYS_PER_TOKEN = 8;
/** Of the tokens of a run: what may be padding before a further run is the better choice. */
const MOST_PADDING = 0.25;
/** Of the tokens of a run: what its questions may have in any case, so that a long document is not read for each of them. */
export const ROWS_BESIDE_LONG = 0.25;

/** How many questions about one document a run has at most. @param stateTokens specials included */
export function rowsOfRun(stateTokens: number, runTokens: number): number {
  return Math.max(1, Math.floor((KEYS_PER_TOKEN * runTokens) / Math.max(1, stateTokens)));
}

/** Like rows together: as many windows, of like length, of the same document. @returns runs of at least one row */
export function packDecisionRows<Row extends DecisionRow>(rows: readonly Row[], limits: RunLimits): Row[][] {
  if (limits.isExact) return rows.map((row) => [row]);
  const runs: Row[][] = [];
  let size = new RunSize();
  for (const row of [...rows].sort(byLikeness)) {
    const larger = size.with(row);
    const run = runs.at(-1);
    if (run === undefined || !larger.fits(limits.tokens)) {
      runs.push([row]);
      size = new RunSize().with(row);
    } else {
      run.push(row);
      size = larger;
    }
  }
  return runs;
}

/** The windows of a run, each once, in the order in which rows name them. */
export function windowsOf(rows: readonly DecisionRow[]): Window[] {
  return [...new Map(rows.flatMap(({ windows }) => windows.map((window) => [window.key, window]))).values()];
}

function byLikeness(a: DecisionRow, b: DecisionRow): number {
  const [first, second] = [a.windows, b.windows];
  const byWindows = second.length - first.length || longestOf(second) - longestOf(first);
  const byDocument = compare(first[0]?.key ?? '', second[0]?.key ?? '');
  return byWindows || byDocument || b.chunk.tokenIds.length - a.chunk.tokenIds.length;
}

/** What the rows of a run come to once they are padded. */
class RunSize {
  #keys: ReadonlySet<string> = new Set();
  #tokens = 0;
  #rows = 0;
  #longestWindow = 0;
  #mostWindows = 0;
  #longestRow = 0;

  with({ windows, chunk }: DecisionRow): RunSize {
    const sum = new RunSize();
    const added = windows.filter(({ key }) => !this.#keys.has(key));
    sum.#keys = added.length === 0 ? this.#keys : new Set([...this.#keys, ...added.map(({ key }) => key)]);
    sum.#tokens = this.#tokens + countTokens(added) + chunk.tokenIds.length;
    sum.#rows = this.#rows + 1;
    sum.#longestWindow = Math.max(this.#longestWindow, longestOf(windows));
    sum.#mostWindows = Math.max(this.#mostWindows, windows.length);
    sum.#longestRow = Math.max(this.#longestRow, chunk.tokenIds.length);
    return sum;
  }

  fits(mostTokens: number): boolean {
    const ofRows = this.#rows * this.#longestRow;
    const padded = this.#keys.size * this.#longestWindow + ofRows;
    const keys = this.#rows * this.#mostWindows * this.#longestWindow;
    const padding = padded - this.#tokens;
    // All rows are about the same windows: there is no run in which these would be fewer.
    const isOneDocument = this.#keys.size === this.#mostWindows;
    const hasRoom = padded <= mostTokens || (isOneDocument && ofRows <= ROWS_BESIDE_LONG * mostTokens);
    return hasRoom && keys <= KEYS_PER_TOKEN * mostTokens && padding <= MOST_PADDING * mostTokens;
  }
}

function longestOf(windows: readonly Window[]): number {
  return windows.reduce((most, { tokens }) => Math.max(most, tokens), 0);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
