// Rows of a labelled file: a document, questions as a decision request has them, and what is right. Pure; where a file
// lies and what it is asked of is not known here. The format is docs/guides/evaluation.md's.

import { isRecord, parsePlainJson } from '../domain/json.ts';
import type { Question } from '../domain/question.ts';
import { toTarget } from './gold.ts';
import { type LabelTask, questionOfTask } from './label-task.ts';
import type { LabelledQuestion } from './labelled-question.ts';
import { type OptionRenames, renameOptionsOf, renameRight } from './renamed-options.ts';
import { parseQuestion, RowFault } from './wire-question.ts';

export interface LabelledRow {
  /** From 1, as editors count. */
  readonly line: number;
  readonly state: string;
  /** At least one. */
  readonly questions: readonly LabelledQuestion[];
}

/** What rows may leave out because it is the same for all. */
export interface RowDefaults {
  /** `questions` of a request. */
  readonly questions?: unknown;
  /** For rows with a `label`. */
  readonly task?: LabelTask;
  /** Options that have another name by now. */
  readonly renames?: OptionRenames;
}

/** All rows that cannot be read, a line each. */
export class LabelledFileError extends Error {
  override readonly name = 'LabelledFileError';
}

const MOST_FAULTS_TOLD = 10;

/**
 * One JSON object a line; empty lines are passed over.
 * @param limit rows at most
 * @throws LabelledFileError
 */
export function parseLabelledRows(
  text: string,
  defaults: RowDefaults = {},
  limit = Number.POSITIVE_INFINITY,
): LabelledRow[] {
  const rows: LabelledRow[] = [];
  const faults = new RowFaults();
  for (const [index, line] of text.split('\n').entries()) {
    if (rows.length + faults.count >= limit) break;
    if (line.trim() === '') continue;
    try {
      rows.push(parseRowText(line, { line: index + 1, place: rows.length + faults.count, defaults }));
    } catch (error) {
      if (!(error instanceof RowFault)) throw error;
      faults.add(index + 1, error.message);
    }
  }
  faults.throwIfAny();
  if (rows.length === 0) throw new LabelledFileError('There are no rows: every line must be a JSON object.');
  return rows;
}

/** What is wrong with the rows of a file: the first of them in words, the others counted. */
export class RowFaults {
  readonly #told: string[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(line: number, message: string): void {
    this.#count++;
    if (this.#told.length < MOST_FAULTS_TOLD) this.#told.push(`line ${line}: ${message}`);
  }

  /** @throws LabelledFileError */
  throwIfAny(): void {
    if (this.#count === 0) return;
    const more = this.#count - this.#told.length;
    throw new LabelledFileError([...this.#told, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n'));
  }
}

export interface RowPlace {
  readonly line: number;
  /** Rows before it. */
  readonly place: number;
  readonly defaults: RowDefaults;
}

/** @param text JSON. @throws RowFault */
export function parseRowText(text: string, place: RowPlace): LabelledRow {
  let value: unknown;
  try {
    value = parsePlainJson(text);
  } catch {
    throw new RowFault('it is not valid JSON');
  }
  return parseLabelledRow(value, place);
}

/** @throws RowFault */
export function parseLabelledRow(row: unknown, { line, place, defaults }: RowPlace): LabelledRow {
  if (!isRecord(row)) throw new RowFault('it is not a JSON object');
  const { state } = row;
  if (typeof state !== 'string') throw new RowFault("the field 'state' must be a string");
  if (defaults.task !== undefined && row['questions'] === undefined) {
    return { line, state, questions: [questionOfTask(defaults.task, row, place)] };
  }
  const questions = row['questions'] === undefined ? sharedQuestions(row, defaults) : ownQuestions(row, defaults);
  if (questions.length === 0) throw new RowFault('it has no questions with a right answer');
  return { line, state, questions };
}

/** Questions of the row itself: all of them need a right answer, in them or in the row. */
function ownQuestions(row: Record<string, unknown>, { renames }: RowDefaults): LabelledQuestion[] {
  const { questions } = row;
  if (Array.isArray(questions)) {
    return questions.map((raw, index) => labelled(`${index + 1}`, raw, rightAnswer(raw), renames));
  }
  if (!isRecord(questions)) throw new RowFault("the field 'questions' must be an object or an array");
  return Object.entries(questions).map(([name, raw]) => {
    const own = rightAnswer(raw);
    const right = own.gold === undefined && own.soft === undefined ? ofRow(row, name) : own;
    return { ...labelled(name, raw, right, renames), task: name };
  });
}

/** Questions for all rows: asked where the row says what is right. */
function sharedQuestions(row: Record<string, unknown>, { questions, renames }: RowDefaults): LabelledQuestion[] {
  if (!isRecord(questions)) {
    const advice =
      row['label'] === undefined ? '' : "; rows with a 'label' need a tasks.json beside the file or above it";
    throw new RowFault(`it has no 'questions'${advice}`);
  }
  for (const named of [row['gold'], row['soft']]) {
    const unknown = Object.keys(isRecord(named) ? named : {}).find((name) => !Object.hasOwn(questions, name));
    if (unknown !== undefined)
      throw new RowFault(`there is no question "${unknown}"`, 'it answers a question that is none of the shared ones');
  }
  return Object.entries(questions).flatMap(([name, raw]) => {
    const right = ofRow(row, name);
    if (right.gold === undefined && right.soft === undefined) return [];
    return [{ ...labelled(name, raw, right, renames), task: name }];
  });
}

export interface RightAnswer {
  readonly gold?: unknown;
  readonly soft?: unknown;
}

function rightAnswer(raw: unknown): RightAnswer {
  return isRecord(raw) ? { gold: raw['gold'], soft: raw['soft'] } : {};
}

function ofRow({ gold, soft }: Record<string, unknown>, name: string): RightAnswer {
  const of = (map: unknown) => (isRecord(map) && Object.hasOwn(map, name) ? map[name] : undefined);
  return { gold: of(gold), soft: of(soft) };
}

/** Questions that all rows share are read once, and are one object in all of them. */
const parsed = new WeakMap<object, Question>();

function parseOnce(raw: unknown): Question {
  const known = isRecord(raw) ? parsed.get(raw) : undefined;
  if (known !== undefined) return known;
  const question = parseQuestion(raw);
  if (isRecord(raw)) parsed.set(raw, question);
  return question;
}

function labelled(
  name: string,
  raw: unknown,
  { gold, soft }: RightAnswer,
  renames: OptionRenames | undefined,
): LabelledQuestion {
  try {
    const asked = parseOnce(raw);
    const isRenamed = renames !== undefined && asked.type === 'choice';
    const question = isRenamed ? renameOptionsOf(asked, renames) : asked;
    const right = isRenamed ? { gold: renameRight(gold, renames), soft: renameRight(soft, renames) } : { gold, soft };
    const { names, target } = toTarget(question, right);
    return { task: question.type, question, names, target };
  } catch (error) {
    if (!(error instanceof RowFault)) throw error;
    throw new RowFault(`question "${name}": ${error.message}`, error.unquoted);
  }
}
