// Plain-text tables for the terminal. Pure.

export type Cell = string | number;

/** One decimal from 10 on, two below: enough to compare, not more than the noise allows. NaN is a dash. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return '–';
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) < 10 ? value.toFixed(2) : Math.abs(value) < 1000 ? value.toFixed(1) : value.toFixed(0);
}

/** Columns as wide as their widest cell, numbers to the right. @param rows `[rows][columns]`, the first is the head */
export function formatTable(rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatNumber(cell) : cell)));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...texts.map((row) => row[column]?.length ?? 0)),
  );
  const isNumeric = widths.map((_, column) => rows.slice(1).every((row) => typeof row[column] === 'number'));
  const lines = texts.map((row) =>
    row
      .map((text, column) =>
        isNumeric[column] ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [lines[0] ?? '', rule, ...lines.slice(1)].join('\n');
}
