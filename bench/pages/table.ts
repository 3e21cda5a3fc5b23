// Tables: as plain text for the terminal, and in Markdown. Pure.

import type { LatencySummary } from '../load/statistics.ts';

export type Cell = string | number;

/** One decimal from 10 on, two below: enough to compare, not more than the noise allows. NaN is a dash. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return '–';
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) < 10 ? value.toFixed(2) : Math.abs(value) < 1000 ? value.toFixed(1) : value.toFixed(0);
}

export function formatPercent(share: number, decimals = 1): string {
  return `${(100 * share).toFixed(decimals)} %`;
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
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const pad = (text: string, column: number): string =>
    isNumeric(rows, column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  const [head = '', ...lines] = texts.map((row) => row.map(pad).join('  ').trimEnd());
  return [head, widths.map((width) => '-'.repeat(width)).join('  '), ...lines].join('\n');
}

/** The same in Markdown. Without rows beside the head: nothing to show */
export function markdownTable(rows: Rows): string {
  const [head = [], ...body] = rows;
  if (body.length === 0) return 'None.';
  const rule = head.map((_, column) => (isNumeric(rows, column) ? '---:' : '---'));
  const lines = [head, rule, ...body].map((row) => row.map((cell) => writeCell(cell).replaceAll('|', '\\|')));
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** @param columns by their headings: what stands in each row */
export function tableOf<T>(rows: readonly T[], columns: Readonly<Record<string, (row: T) => Cell>>): string {
  return markdownTable([Object.keys(columns), ...rows.map((row) => Object.values(columns).map((write) => write(row)))]);
}

interface Timed {
  readonly latency: LatencySummary;
}

/** What several tables show. */
const COLUMNS = {
  load: (row: { readonly load: string }) => row.load,
  server: (row: { readonly server: string }) => row.server,
  'at a time': (row: { readonly concurrency: number }) => row.concurrency,
  '× capacity': (row: { readonly share: number }) => row.share,
  'req/s': (row: { readonly requestsPerSecond: number }) => row.requestsPerSecond,
  'tokens/s': (row: { readonly tokensPerSecond: number }) => Math.round(row.tokensPerSecond),
  'p50 ms': ({ latency }: Timed) => latency.p50Ms,
  'p95 ms': ({ latency }: Timed) => latency.p95Ms,
  'p99 ms': ({ latency }: Timed) => latency.p99Ms,
  answers: ({ latency }: Timed) => latency.samples,
  refused: (row: { readonly refused: number }) => row.refused,
  errors: (row: { readonly errors: number }) => row.errors,
  client: (row: { readonly clientShare: number }) => row.clientShare,
  questions: (row: { readonly questions: number }) => String(row.questions),
} as const;

/** Those of these headings, in their order. */
export function columns<Heading extends keyof typeof COLUMNS>(...headings: readonly Heading[]) {
  const chosen = headings.map((heading) => [heading, COLUMNS[heading]] as const);
  return Object.fromEntries(chosen) as Pick<typeof COLUMNS, Heading>;
}
