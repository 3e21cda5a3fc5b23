// Paragraphs of help as wide as the terminal: wrapped text, a usage line, rows of names, examples.

import type { CommandExample } from './command.ts';
import type { Paint } from './paint.ts';

/** Where the texts of rows begin, by the longest name. */
const MIN_TEXT_COLUMN = 20;
const MAX_TEXT_COLUMN = 34;
const GAP = 2;
const MAX_COLUMNS = 100;
const MIN_COLUMNS = 30;
/** Below this, what a row says stands under its name and not beside it. */
const NARROW_COLUMNS = 72;
const NARROW_INDENT = 6;

/** Where help is shown. */
export interface HelpPage {
  readonly columns: number;
  readonly paint: Paint;
}

export type HelpRow = readonly [name: string, text: string];

/** @param paragraphs those that are empty are left out */
export function renderPage(paragraphs: readonly string[]): string {
  return `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`;
}

export function paragraph(text: string, { columns }: HelpPage): string {
  return wrapText(text, widthOf(columns));
}

/** `Usage: umpire keys …`; its further lines begin under the first word after the title. */
export function titledLine(title: string, text: string, { columns, paint }: HelpPage): string {
  const hanging = title.length + 2;
  return paint('bold', `${title}:`) + wrapText(`${title}: ${text}`, widthOf(columns), hanging).slice(hanging - 1);
}

/** @returns nothing where there are no rows */
export function titledRows(title: string, rows: readonly HelpRow[], page: HelpPage): string {
  if (rows.length === 0) return '';
  const longest = Math.max(...rows.map(([name]) => name.length));
  const textColumn = Math.max(MIN_TEXT_COLUMN, Math.min(MAX_TEXT_COLUMN, GAP + longest + GAP));
  return [page.paint('bold', `${title}:`), ...rows.map((row) => renderRow(row, textColumn, page))].join('\n');
}

/** A command is pasted as it stands, so nothing breaks its lines. */
export function titledExamples(
  title: string,
  examples: readonly CommandExample[],
  { columns, paint }: HelpPage,
): string {
  const shown = examples.map(({ text, command }) => {
    const comment = wrapText(text, widthOf(columns) - GAP - '# '.length).split('\n');
    return indent([...comment.map((line) => paint('dim', `# ${line}`)), command].join('\n'), GAP);
  });
  return `${paint('bold', `${title}:`)}\n${shown.join('\n\n')}`;
}

function renderRow([name, text]: HelpRow, textColumn: number, { columns, paint }: HelpPage): string {
  const width = widthOf(columns);
  const painted = `  ${paint('cyan', name)}`;
  if (width < NARROW_COLUMNS) return `${painted}\n${indent(wrapText(text, width - NARROW_INDENT), NARROW_INDENT)}`;
  const told = indent(wrapText(text, width - textColumn), textColumn);
  const gap = textColumn - GAP - name.length;
  return gap > 0 ? `${painted}${' '.repeat(gap)}${told.trimStart()}` : `${painted}\n${told}`;
}

function widthOf(columns: number): number {
  return Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns));
}

/** Breaks lines at spaces; those that begin with one are shown as they are. */
export function wrapText(text: string, columns: number, hanging = 0): string {
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith(' ') ? [line] : wrapLine(line, columns, hanging)))
    .join('\n');
}

function wrapLine(line: string, columns: number, hanging: number): string[] {
  const [first = '', ...words] = line.split(' ');
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(' '.repeat(hanging) + word);
  }
  return lines;
}

function indent(text: string, columns: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(columns));
}
