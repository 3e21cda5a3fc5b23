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

/** What begins a formula, in wide characters too, where a cell begins: also where another separator would make it begin. */
const FORMULA = /(^|[;\t\r\n])( *)([=+\-@＝＋－＠])/g;

// A spreadsheet runs what begins like a formula, and some texts (names of keys and models, request ids) are of others'
// choosing. An apostrophe makes it text. Many cut at semicolons or tabs, whatever the file is separated by, and know no
// quotes within a cell.
function defuse(text: string): string {
  const defused = text.replace(FORMULA, "$1$2'$3");
  return /^[\t\r]/.test(defused) ? `'${defused}` : defused;
}
