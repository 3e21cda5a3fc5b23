// Questions while somebody writes them: what the form shows, and the JSON of a request, each made from the other. A draft
// keeps what it was given for every type, so that trying another type loses nothing.

import { isJsonObject, isList, type JsonObject, type JsonValue, parseOrderedJson } from '../../domain/json.ts';

export const DRAFT_TYPES = ['choice', 'noul', 'score'] as const;
export type DraftType = (typeof DRAFT_TYPES)[number];

export interface OptionDraft {
  readonly name: string;
  /** Empty: the name says it all. */
  readonly description: string;
}

export interface QuestionDraft {
  /** Stays while the name is edited. */
  readonly id: number;
  readonly name: string;
  readonly type: DraftType;
  readonly instructions: string;
  /** Of a choice. */
  readonly options: readonly OptionDraft[];
  /** Of a score, lowest first. */
  readonly levels: readonly string[];
  /** Of a noul: what yes and no mean, empty where the question says it. */
  readonly yes: string;
  readonly no: string;
}

/** What is wrong with JSON that should hold questions, for whoever wrote it. */
class DraftError extends Error {}

const MIN_LEVELS = 2;
let lastId = 0;

export function newDraft(given: Partial<Omit<QuestionDraft, 'id'>> = {}): QuestionDraft {
  lastId += 1;
  const options = [
    { name: '', description: '' },
    { name: '', description: '' },
  ];
  const empty = { name: '', type: 'choice' as const, instructions: '', options, levels: ['', ''], yes: '', no: '' };
  return { id: lastId, ...empty, ...given };
}

/** The member `questions` of a request, as text: objects would move names such as "10" to the front. */
export function writeDrafts(drafts: readonly QuestionDraft[]): string {
  if (drafts.length === 0) return '{}';
  const members = drafts.map((draft) => `  ${JSON.stringify(draft.name)}: ${writeDraft(draft)}`);
  return `{\n${members.join(',\n')}\n}`;
}

function writeDraft(draft: QuestionDraft): string {
  const criteria = writeCriteria(draft);
  const lines = [
    `    "type": ${JSON.stringify(draft.type)}`,
    `    "instructions": ${JSON.stringify(draft.instructions)}`,
    ...(criteria === undefined ? [] : [`    "criteria": ${criteria}`]),
  ];
  return `{\n${lines.join(',\n')}\n  }`;
}

function writeCriteria({ type, options, levels, yes, no }: QuestionDraft): string | undefined {
  if (type === 'score')
    return writeBlock(
      '[]',
      levels.filter(Boolean).map((level) => JSON.stringify(level)),
    );
  const entries = type === 'choice' ? writtenOptions(options) : namedSides(yes, no);
  if (type === 'noul' && entries.length === 0) return undefined;
  return writeBlock(
    '{}',
    entries.map(
      ({ name, description }) =>
        `${JSON.stringify(name)}: ${description === '' ? 'null' : JSON.stringify(description)}`,
    ),
  );
}

/** Without rows of the form that nobody has filled in yet. */
export function writtenOptions(options: readonly OptionDraft[]): OptionDraft[] {
  return options.filter(({ name, description }) => name !== '' || description !== '');
}

function namedSides(yes: string, no: string): OptionDraft[] {
  return [
    { name: 'true', description: yes },
    { name: 'false', description: no },
  ].filter(({ description }) => description !== '');
}

function writeBlock(brackets: '[]' | '{}', lines: readonly string[]): string {
  const [open, close] = brackets;
  return lines.length === 0 ? `${open}${close}` : `${open}\n      ${lines.join(',\n      ')}\n    ${close}`;
}

/**
 * @param text the member `questions`
 * @throws DraftError, JsonSyntaxError
 */
export function readDrafts(text: string): QuestionDraft[] {
  const questions = parseOrderedJson(text);
  if (!isJsonObject(questions)) throw new DraftError('Questions are an object: a name, then what is asked.');
  return Array.from(questions, ([name, question]) => readDraft(name, question));
}

function readDraft(name: string, question: JsonValue): QuestionDraft {
  const fault = (what: string): DraftError => new DraftError(`The question ${JSON.stringify(name)} ${what}`);
  if (!isJsonObject(question)) throw fault('must be an object with type and instructions.');
  const type = DRAFT_TYPES.find((known) => known === question.get('type'));
  if (type === undefined) throw fault('needs a type: choice, noul or score.');
  const instructions = question.get('instructions') ?? '';
  if (typeof instructions !== 'string') throw fault('needs instructions: a text.');
  const criteria = readCriteria(type, question.get('criteria'));
  if (criteria === undefined) throw fault(`has criteria that are none of a ${type}.`);
  return newDraft({ name, type, instructions, ...criteria });
}

/** @returns undefined: they are of another form */
function readCriteria(type: DraftType, criteria: JsonValue | undefined): Partial<QuestionDraft> | undefined {
  if (type === 'score') return readLevels(criteria ?? []);
  const entries = readEntries(criteria ?? null);
  if (type === 'choice' || entries === undefined) return entries && { options: entries };
  const sideOf = (name: string): string => entries.find((entry) => entry.name === name)?.description ?? '';
  const isOther = entries.some(({ name }) => name !== 'true' && name !== 'false');
  return isOther ? undefined : { yes: sideOf('true'), no: sideOf('false') };
}

function readLevels(criteria: JsonValue): Partial<QuestionDraft> | undefined {
  if (!isList(criteria)) return undefined;
  const levels = criteria.filter((level) => typeof level === 'string');
  return levels.length === criteria.length ? { levels } : undefined;
}

function readEntries(criteria: JsonValue): OptionDraft[] | undefined {
  if (criteria === null) return [];
  if (!isJsonObject(criteria)) return undefined;
  return readDescriptions(criteria);
}

function readDescriptions(criteria: JsonObject): OptionDraft[] | undefined {
  const entries = Array.from(criteria, ([name, description]) => ({ name, description: description ?? '' }));
  const texts = entries.filter((entry): entry is OptionDraft => typeof entry.description === 'string');
  return texts.length === entries.length ? texts : undefined;
}

/** @returns what is missing before it can be asked, as a sentence; undefined: nothing */
export function findGap(draft: QuestionDraft, others: readonly QuestionDraft[]): string | undefined {
  if (others.some(({ id, name }) => id !== draft.id && name === draft.name)) return 'Another question has this name.';
  if (draft.instructions === '') return 'Write what is asked.';
  if (draft.type === 'score')
    return draft.levels.filter(Boolean).length < MIN_LEVELS ? 'Describe at least two levels.' : undefined;
  if (draft.type === 'noul') return undefined;
  const names = writtenOptions(draft.options).map(({ name }) => name);
  if (names.length === 0) return 'Add at least one option.';
  return names.length > new Set(names).size ? 'Two options have the same name.' : undefined;
}
