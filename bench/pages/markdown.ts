// Tables in Markdown. Pure.

import { type Cell, formatNumber } from './table.ts';

/** @param rows `[rows][columns]`, the first is the head; columns of numbers stand to the right. Without others: nothing to show */
export function markdownTable(rows: readonly (readonly Cell[])[]): string {
  const [head = [], ...body] = rows;
  if (body.length === 0) return 'None.';
  const isNumeric = head.map((_, column) => body.every((row) => typeof row[column] === 'number'));
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const write = (cell: Cell): string => (typeof cell === 'number' ? formatNumber(cell) : cell.replaceAll('|', '\\|'));
  return [
    line(head.map(write)),
    line(isNumeric.map((numeric) => (numeric ? '---:' : '---'))),
    ...body.map((row) => line(row.map(write))),
  ].join('\n');
}
