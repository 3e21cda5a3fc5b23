// How the rows of an output are written: JSON Lines with full answers, or CSV with a column for each figure. Pure.

import { renderExactCsv } from '../../domain/csv.ts';
import type { RefusedRequest } from '../patient-asker.ts';
import type { RowAnswer } from './batch-task.ts';
import type { InputRow } from './input-rows.ts';
import type { RowFormat } from './raw-rows.ts';

export interface OutputRows {
  /** Before all rows; may be empty. */
  readonly heading: string;
  answered(row: InputRow, answer: RowAnswer): string;
  refused(row: InputRow, refusal: RefusedRequest): string;
}

/** @param kept names of what goes with the answer; @param headings of the task */
export function outputRows(format: RowFormat, kept: readonly string[], headings: readonly string[]): OutputRows {
  return format === 'jsonl' ? jsonRows(kept) : csvRows(kept, headings);
}

function jsonRows(names: readonly string[]): OutputRows {
  const begin = ({ id, kept }: InputRow): string => {
    const members = names.map((name, place) => `${JSON.stringify(name)}:${JSON.stringify(kept[place])}`);
    const row = names.length === 0 ? '' : `,"row":{${members.join(',')}}`;
    return `{"id":${JSON.stringify(id)}${row}`;
  };
  return {
    heading: '',
    answered: (row, { members }) => `${begin(row)},${members}}\n`,
    refused: (row, { status, code, message }) =>
      `${begin(row)},"line":${row.line},"error":${JSON.stringify({ status, code, message })}}\n`,
  };
}

function csvRows(names: readonly string[], headings: readonly string[]): OutputRows {
  const begin = ({ id, kept }: InputRow) => [
    id,
    ...kept.map((value) => (typeof value === 'string' || value === null ? value : JSON.stringify(value))),
  ];
  const empty = headings.map(() => null);
  return {
    heading: renderExactCsv([['id', ...names, ...headings, 'error']]),
    answered: (row, { cells }) => renderExactCsv([[...begin(row), ...cells, null]]),
    refused: (row, { code, message }) => renderExactCsv([[...begin(row), ...empty, `${code}: ${message}`]]),
  };
}
