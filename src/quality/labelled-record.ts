// A record of CSV as a labelled row: one column has the document, and each question its own with what is right. Pure; the
// file and its columns are read elsewhere.

import { isRecord } from '../domain/json.ts';
import { RowFault } from './wire-question.ts';

/** Column of the document, where none is named: the first of them that is there. */
const TEXT_COLUMNS = ['state', 'text', 'document', 'input'];
const YES: ReadonlySet<string> = new Set(['true', 'yes', '1']);
const NO: ReadonlySet<string> = new Set(['false', 'no', '0']);

export interface RecordColumns {
  readonly text: string;
  /** Names of questions that have a column. */
  readonly questions: readonly string[];
}

/** @param wanted column of the document. @throws RowFault where there is no document or no question */
export function chooseRecordColumns(
  heading: readonly string[],
  questions: Readonly<Record<string, unknown>>,
  wanted?: string,
): RecordColumns {
  const there = `There are ${heading.map((name) => JSON.stringify(name)).join(', ') || 'none'}.`;
  const text = wanted ?? TEXT_COLUMNS.find((name) => heading.includes(name));
  if (text === undefined) throw new RowFault(`which column is the document? Name it with --text-column. ${there}`);
  if (!heading.includes(text)) throw new RowFault(`there is no column ${JSON.stringify(text)}. ${there}`);
  const asked = Object.keys(questions).filter((name) => name !== text && heading.includes(name));
  if (asked.length > 0) return { text, questions: asked };
  throw new RowFault(`no column is named as a question of --questions. ${there}`);
}

/**
 * A row as a line of JSON would have it. A question with an empty cell is left out. A choice has the name of an option, a
 * noul `true`, `yes`, `1` or their contraries, a score the number of a level or its text.
 * @param raw questions of a request
 * @throws RowFault
 */
export function rowOfRecord(
  cells: Readonly<Record<string, unknown>>,
  { text, questions }: RecordColumns,
  raw: Readonly<Record<string, unknown>>,
): object {
  const given = questions.map((name) => [name, String(cells[name] ?? '')] as const).filter(([, cell]) => cell !== '');
  const gold = given.map(([name, cell]) => [name, goldOfCell(name, cell, raw[name])]);
  return { state: cells[text], gold: Object.fromEntries(gold) };
}

/** What a cell says is right. @param raw its question, of a request. @throws RowFault */
export function goldOfCell(name: string, cell: string, raw: unknown): unknown {
  const { type, criteria } = isRecord(raw) ? raw : {};
  if (type === 'noul') {
    const word = cell.trim().toLowerCase();
    if (YES.has(word) || NO.has(word)) return YES.has(word);
    throw new RowFault(`question "${name}": a noul is true or false`);
  }
  if (type !== 'score') return cell;
  const level = Array.isArray(criteria) ? criteria.indexOf(cell) : -1;
  if (level >= 0) return level;
  if (/^\s*\d+\s*$/.test(cell)) return Number(cell);
  throw new RowFault(`question "${name}": a score is the number of a level, from 0, or its text`);
}
