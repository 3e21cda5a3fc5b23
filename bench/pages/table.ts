// Tables: as plain text for the terminal, and in Markdown. Pure.

import type { LatencySummary } from '../load/statistics.ts';

export type Cell = string | number;

/** One decimal from 10 on, two below: enough to compare, not more than the noise allows. NaN is a dash. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return '–';
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) < 10 ? value.toFixed(2) : Math.abs(value) < 1000 ? value.toFixed(1) : value.toFixed(0);
}

export function toMegabytes(bytes: number | null): number {
  return bytes === null ? Number.NaN : bytes / 1e6;
}

type Rows = readonly (readonly Cell[])[];

function isNumeric(rows: Rows, column: number): boolean {
  return rows.slice(1).every((row) => typeof row[column] === 'number');
}

function writeCell(cell: Cell): string {
  return typeof cell === 'number' ? formatNumber(cell) : cell;
}

/** Columns as wide as their widest cell, numbers to the right. @param rows `[rows][columns]`, the first is the head */
export function formatTable(rows: Rows): string {
  const texts = rows.map((row) => row.map(writeCell));
  const columns = (texts[0] ?? []).map((_, column) => ({
    width: Math.max(...texts.map((row) => row[column]?.length ?? 0)),
    isNumeric: isNumeric(rows, column),
  }));
  const pad = (text: string, column: number): string => {
    const { width = 0, isNumeric: isRight = false } = columns[column] ?? {};
    return isRight ? text.padStart(width) : text.padEnd(width);
  };
  const [head = '', ...lines] = texts.map((row) => row.map(pad).join('  ').trimEnd());
  const rule = columns.map(({ width }) => '-'.repeat(width)).join('  ');
  return [head, rule, ...lines].join('\n');
}

/** The same in Markdown. Without rows beside the head: nothing to show */
export function markdownTable(rows: Rows): string {
  const [head = [], ...body] = rows;
  if (body.length === 0) return 'None.';
  const rule = head.map((_, column) => (isNumeric(rows, column) ? '---:' : '---'));
  const lines = [head, rule, ...body].map((row) => row.map((cell) => writeCell(cell).replaceAll('|', '\\|')));
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Columns whose headings are the names of what stands in them. */
export function same<Name extends string>(...names: readonly Name[]) {
  const columns = names.map((name) => [name, (row: Readonly<Record<Name, Cell>>) => row[name]] as const);
  return Object.fromEntries(columns);
}

/** `p50 ms`, … */
export function latencyColumns(...percentiles: readonly ('p50' | 'p95' | 'p99')[]) {
  const columns = percentiles.map((name) => [`${name} ms`, ({ latency }: Timed) => latency[`${name}Ms`]] as const);
  return Object.fromEntries(columns);
}

interface Timed {
  readonly latency: LatencySummary;
}

/** @param columns by their headings: what stands in each row */
export function tableOf<T>(rows: readonly T[], columns: Readonly<Record<string, (row: T) => Cell>>): string {
  return markdownTable([Object.keys(columns), ...rows.map((row) => Object.values(columns).map((write) => write(row)))]);
}
