// The rows that a person is to be asked about: documents of a file, their questions, and what is known of the answers.

import { InputFault, type InputLine, openBytes, readLines } from '../../client/batch/input-lines.ts';
import { chooseColumns } from '../../client/batch/input-rows.ts';
import { type RawRow, readRawRows } from '../../client/batch/raw-rows.ts';
import { isRecord, parsePlainJson } from '../../domain/json.ts';
import { QUESTION_LIMITS, type Question } from '../../domain/question.ts';
import { toTarget } from '../../quality/gold.ts';
import { goldOfCell } from '../../quality/labelled-record.ts';
import { LabelledFileError, type RightAnswer, RowFaults } from '../../quality/labelled-row.ts';
import { parseQuestion, RowFault } from '../../quality/wire-question.ts';
import { withoutLine } from '../labelled-file.ts';
import type { AskedQuestions } from '../questions.ts';

export interface OpenQuestion {
  readonly name: string;
  readonly question: Question;
  /** `[options]`, shares: what the file says is right. undefined: it says nothing. */
  readonly target: readonly number[] | undefined;
}

export interface OpenRow {
  /** From 1, as editors count. */
  readonly line: number;
  /** Of the row, where it has one. */
  readonly id: string | number | undefined;
  readonly state: string;
  /** At least one. */
  readonly questions: readonly OpenQuestion[];
}

export interface OpenRowsOptions {
  /** Of all rows. undefined: each has its own. */
  readonly questions: AskedQuestions | undefined;
  /** Column or member with the document. undefined: it is found by its name. */
  readonly textColumn: string | undefined;
}

type Form = 'jsonl' | 'csv' | 'tsv' | 'lines';

const OWN_TEXT_COLUMN = 'state';

/** @throws LabelledFileError with every fault by its line; what reading the file throws */
export async function readOpenRows(path: string, options: OpenRowsOptions): Promise<OpenRow[]> {
  const shared = options.questions === undefined ? undefined : parseSharedQuestions(options.questions);
  const rows: OpenRow[] = [];
  const faults = new RowFaults();
  let textColumn: string | undefined;
  try {
    for await (const raw of openRawRows(path)) {
      if (raw instanceof InputFault) {
        faults.add(raw.line, withoutLine(raw));
        continue;
      }
      textColumn ??= chooseColumns(raw, { text: options.textColumn, kept: [] }).text;
      try {
        rows.push(toOpenRow(raw, { textColumn, shared }));
      } catch (error) {
        if (!(error instanceof RowFault)) throw error;
        faults.add(raw.line, error.message);
      }
    }
  } catch (error) {
    if (!(error instanceof InputFault)) throw error;
    faults.add(error.line, withoutLine(error));
  }
  faults.throwIfAny();
  if (rows.length === 0) throw new LabelledFileError('There are no rows.');
  return rows;
}

function openRawRows(path: string): AsyncIterable<RawRow | InputFault> {
  const lines = readLines(openBytes(path));
  const form = formOf(path);
  if (form === 'lines') return asStates(lines);
  return form === 'jsonl' ? readRawRows(lines, 'jsonl') : readRawRows(lines, 'csv', form === 'tsv' ? '\t' : ',');
}

function formOf(path: string): Form {
  const [, ending = ''] = /\.([a-z]+)(\.gz)?$/i.exec(path) ?? [];
  const lower = ending.toLowerCase();
  if (lower === 'csv' || lower === 'tsv') return lower;
  return lower === 'txt' ? 'lines' : 'jsonl';
}

/** A document on each line. */
async function* asStates(lines: AsyncIterable<InputLine>): AsyncGenerator<RawRow> {
  for await (const { number: line, text } of lines) {
    if (text.trim() !== '') yield { line, members: { [OWN_TEXT_COLUMN]: text.replace(/\r$/, '') } };
  }
}

interface SharedQuestion {
  readonly question: Question;
  /** Of a request. */
  readonly raw: unknown;
}

type SharedQuestions = ReadonlyMap<string, SharedQuestion>;

/** @throws LabelledFileError */
function parseSharedQuestions({ json }: AskedQuestions): SharedQuestions {
  const raw = parsePlainJson(json) as Record<string, unknown>;
  try {
    const questions = new Map(
      Object.entries(raw).map(([name, given]) => [name, { question: readQuestion(name, given), raw: given }]),
    );
    if (questions.size === 0) throw new RowFault('there are none');
    return questions;
  } catch (error) {
    throw error instanceof RowFault ? new LabelledFileError(`The questions: ${error.message}.`) : error;
  }
}

/** @throws RowFault */
function readQuestion(name: string, raw: unknown): Question {
  return of(name, () => {
    const question = parseQuestion(raw);
    const { choiceOptions, scoreLevels } = QUESTION_LIMITS;
    if (question.type === 'choice' && question.options.length > choiceOptions.max) {
      throw new RowFault(`a choice has ${choiceOptions.max} options at most`);
    }
    const levels = question.type === 'score' ? question.levels.length : scoreLevels.min;
    if (levels < scoreLevels.min || levels > scoreLevels.max) {
      throw new RowFault(`a score has ${scoreLevels.min} to ${scoreLevels.max} levels`);
    }
    return question;
  });
}

function of<T>(name: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw error instanceof RowFault ? new RowFault(`question "${name}": ${error.message}`) : error;
  }
}

interface RowForm {
  readonly textColumn: string;
  readonly shared: SharedQuestions | undefined;
}

/** @throws RowFault */
function toOpenRow({ line, members }: RawRow, { textColumn, shared }: RowForm): OpenRow {
  const state = memberOf(members, textColumn);
  if (typeof state !== 'string') throw new RowFault(`${JSON.stringify(textColumn)} must be a text`);
  const id = memberOf(members, 'id');
  const questions = shared === undefined ? ownQuestions(members) : askShared(members, shared);
  if (questions.length === 0) throw new RowFault('it has no questions');
  return { line, id: typeof id === 'string' || typeof id === 'number' ? id : undefined, state, questions };
}

/** As a request has them, each with the right answer or without. */
function ownQuestions(members: RawRow['members']): OpenQuestion[] {
  const raw = memberOf(members, 'questions');
  if (raw === undefined) throw new RowFault("it has no 'questions'; --questions gives those of all rows");
  if (Array.isArray(raw)) return raw.map((question, place) => readOwn(`${place + 1}`, question, members));
  if (!isRecord(raw)) throw new RowFault("the field 'questions' must be an object or an array");
  return Object.entries(raw).map(([name, question]) => readOwn(name, question, members));
}

function readOwn(name: string, raw: unknown, members: RawRow['members']): OpenQuestion {
  const question = readQuestion(name, raw);
  const own = isRecord(raw) ? { gold: raw['gold'], soft: raw['soft'] } : {};
  return { name, question, target: targetOf(name, question, isAbsent(own) ? rightOf(members, name) : own) };
}

/** What is right may stand in the row's `gold` and `soft`, or in a column of the question's name. */
function askShared(members: RawRow['members'], shared: SharedQuestions): OpenQuestion[] {
  return [...shared].map(([name, { question, raw }]) => {
    const right = rightOf(members, name);
    const cell = memberOf(members, name);
    const isCell = isAbsent(right) && typeof cell === 'string' && cell.trim() !== '';
    return { name, question, target: targetOf(name, question, isCell ? { gold: goldOfCell(name, cell, raw) } : right) };
  });
}

function isAbsent({ gold, soft }: RightAnswer): boolean {
  return gold === undefined && soft === undefined;
}

function rightOf(members: RawRow['members'], name: string): RightAnswer {
  const named = (map: unknown): unknown => (isRecord(map) ? (memberOf(map, name) ?? undefined) : undefined);
  return { gold: named(memberOf(members, 'gold')), soft: named(memberOf(members, 'soft')) };
}

function targetOf(name: string, question: Question, right: RightAnswer): readonly number[] | undefined {
  return isAbsent(right) ? undefined : of(name, () => toTarget(question, right).target);
}

function memberOf(members: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}
