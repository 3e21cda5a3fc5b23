// How far a batch is, in one line: a bar on a terminal, a plain line elsewhere. Pure, but for the clock it is handed.

import { formatUsd } from '../domain/money.ts';

export interface BatchCounts {
  /** In the output before this run. */
  readonly before: number;
  /** Written by this run, errors included. */
  readonly rows: number;
  readonly errors: number;
  /** Of this run. */
  readonly costPicoUsd: bigint;
  /** undefined: nobody knows, as of standard input. */
  readonly total: number | undefined;
}

/** Rows a second over the last moments: what counts for the time left. */
export class RowRate {
  readonly #samples: { readonly atMs: number; readonly rows: number }[];

  constructor(nowMs: number) {
    this.#samples = [{ atMs: nowMs, rows: 0 }];
  }

  /** @param rows of this run so far. @returns rows a second; NaN before any time has passed */
  update(nowMs: number, rows: number): number {
    this.#samples.push({ atMs: nowMs, rows });
    while ((this.#samples[1]?.atMs ?? nowMs) < nowMs - RATE_WINDOW_MS) this.#samples.shift();
    const [first = { atMs: nowMs, rows }] = this.#samples;
    return (rows - first.rows) / ((nowMs - first.atMs) / SECOND_MS);
  }
}

const RATE_WINDOW_MS = 20_000;
const SECOND_MS = 1000;
const [MINUTE, HOUR] = [60, 3600];
const BAR_CELLS = 24;
const CENTS = 4;

/** `1,204 of 2,000 rows (60 %), 72.1 rows/s, 11 s left, $0.0046, 3 errors` */
export function describeProgress(counts: BatchCounts, rate: number): string {
  const { before, rows, errors, costPicoUsd, total } = counts;
  const done = before + rows;
  const parts = [
    total === undefined
      ? `${describeCount(done)} rows`
      : `${describeCount(done)} of ${describeCount(total)} rows (${percent(done, total)} %)`,
    ...(rate > 0 ? [`${rate.toFixed(rate < 10 ? 2 : 1)} rows/s`] : []),
    ...(total !== undefined && rate > 0 && total > done ? [`${describeSeconds((total - done) / rate)} left`] : []),
    ...(costPicoUsd > 0n ? [shortUsd(costPicoUsd)] : []),
    ...(errors > 0 ? [`${describeCount(errors)} ${errors === 1 ? 'error' : 'errors'}`] : []),
  ];
  return parts.join(', ');
}

/** With a bar, where the number of rows is known and the terminal is wide enough. */
export function renderProgressBar(counts: BatchCounts, rate: number, columns: number): string {
  const text = describeProgress(counts, rate);
  const { before, rows, total } = counts;
  if (total === undefined || text.length + BAR_CELLS + 2 > columns) return text.slice(0, Math.max(0, columns - 1));
  const filled = Math.round((Math.min(total, before + rows) / Math.max(1, total)) * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)} ${text}`;
}

/** `45 s`, `3 min 20 s`, `2 h 5 min` */
export function describeSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min ${whole % MINUTE} s`;
  return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`;
}

/** Of a dollar so many digits that something shows: `$12.3400`, `$0.00012`. */
export function shortUsd(picoUsd: bigint): string {
  const [whole = '0', fraction = ''] = formatUsd(picoUsd).split('.');
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  return `$${whole}.${fraction.slice(0, whole === '0' ? Math.max(CENTS, zeros + 2) : CENTS).padEnd(CENTS, '0')}`;
}

export function describeCount(rows: number): string {
  return rows.toLocaleString('en-US');
}

function percent(done: number, total: number): number {
  return total === 0 ? 100 : Math.floor((done / total) * 100);
}
