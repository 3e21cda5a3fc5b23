// Rows of text in aligned columns, and rows of anything as a table, as JSON or as CSV: one list of fields says all three.

import { type CsvCell, renderCsv } from '../domain/csv.ts';
import type { CommandArguments, CommandOption, JsonShape } from './command.ts';
import type { Program } from './program.ts';

export const JSON_OPTION = { type: 'boolean', help: 'Answer in JSON' } as const satisfies CommandOption;
export const CSV_OPTION = { type: 'boolean', help: 'Answer in CSV' } as const satisfies CommandOption;

export interface Field<Row> {
  /** In JSON and CSV. */
  readonly name: string;
  /** Numbers stand to the right in a table. Amounts are decimals in strings, times in ISO 8601. */
  readonly value: (row: Row) => CsvCell;
  /** In the table; absent: not shown there. */
  readonly heading?: string;
  /** What the table shows instead of the value. */
  readonly show?: (row: Row) => string;
  readonly isRight?: boolean;
  /** Whether the last line of the table, the sum of all rows, has it. */
  readonly isSummed?: boolean;
}

interface Listing<Row> {
  readonly rows: readonly Row[];
  readonly fields: readonly Field<Row>[];
  /** What people are told where there are no rows. */
  readonly none: string;
  /** Of all rows, for people. */
  readonly total?: Row | undefined;
}

/** Printed as the options ask. */
export function writeRows<Row>(program: Program, { options }: CommandArguments, listing: Listing<Row>): void {
  const { rows, fields, none } = listing;
  if (options['json']) program.writeOut(renderJson(rows.map((row) => toObject(row, fields))));
  else if (options['csv']) program.writeOut(renderCsv(toCells(rows, fields)));
  else if (rows.length === 0) program.writeOut(`${none}\n`);
  else program.writeOut(renderRows(listing));
}

/** What `writeRows` prints with `--json`. */
export function shapeOf(fields: readonly { readonly name: string }[]): JsonShape {
  return { isList: true, members: [...new Set(fields.map(({ name }) => name))] };
}

export function toObject<Row>(row: Row, fields: readonly Field<Row>[]): Record<string, CsvCell> {
  return Object.fromEntries(fields.map(({ name, value }) => [name, value(row)]));
}

/** Counts of tokens fit a number; amounts of money come as text. */
export function renderJson(value: unknown): string {
  return `${JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? Number(member) : member))}\n`;
}

function toCells<Row>(rows: readonly Row[], fields: readonly Field<Row>[]): CsvCell[][] {
  return [fields.map(({ name }) => name), ...rows.map((row) => fields.map(({ value }) => value(row)))];
}

function renderRows<Row>({ rows, fields, total }: Listing<Row>): string {
  const shown = fields.filter(({ heading }) => heading !== undefined);
  const cellOf = ({ value, show }: Field<Row>, row: Row): string => show?.(row) ?? String(value(row) ?? '–');
  const lines = rows.map((row) => shown.map((field) => cellOf(field, row)));
  if (total !== undefined) {
    lines.push(shown.map((field, column) => (field.isSummed ? cellOf(field, total) : column === 0 ? 'all' : '')));
  }
  const rightColumns = new Set(shown.flatMap(({ isRight }, column) => (isRight ? [column] : [])));
  return renderTable([shown.map(({ heading = '' }) => heading), ...lines], rightColumns);
}

/** @param rows the first is the heading. Every row has the same number of cells. */
export function renderTable(
  rows: readonly (readonly string[])[],
  rightColumns: ReadonlySet<number> = new Set(),
): string {
  const cleaned = rows.map((row) => row.map(clean));
  const widths = (cleaned[0] ?? []).map((_, column) => Math.max(...cleaned.map((row) => row[column]?.length ?? 0)));
  const lines = cleaned.map((row) =>
    row
      .map((cell, column) =>
        rightColumns.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** Names are of others' choosing: control characters would steer the terminal. */
export function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}
