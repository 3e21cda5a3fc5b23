// Rows as CSV (RFC 4180), for the HTTP routes and the command line.

export type CsvCell = string | number | bigint | boolean | null;

/** For people, who open it in a spreadsheet. @param rows the first is the heading */
export function renderCsv(rows: readonly (readonly CsvCell[])[]): string {
  return renderExactCsv(rows.map((row) => row.map((cell) => (typeof cell === 'string' ? defuse(cell) : cell))));
}

/** For programs, which must find every text as it is. */
export function renderExactCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(renderCell).join(',')}\r\n`).join('');
}

function renderCell(cell: CsvCell): string {
  if (cell === null) return '';
  const text = String(cell);
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
