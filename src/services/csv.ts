// Rows as CSV (RFC 4180), for the HTTP routes and the command line.

export type CsvCell = string | number | bigint | boolean | null;

/** @param rows the first is the heading */
export function renderCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(renderCell).join(',')}\r\n`).join('');
}

function renderCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = defuse(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A spreadsheet runs what begins like a formula, and some texts (names of keys and models, request ids) are of others'
// choosing. A leading apostrophe makes it text.
function defuse(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
