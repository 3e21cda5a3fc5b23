// The picture before whoever labels: the document, the question, its options with their keys, what the model thinks, how
// many are done. Pure: lines for a terminal of any size, none wider than it.

import type { Question } from '../../domain/question.ts';
import { answerNames } from '../../quality/gold.ts';
import type { Paint } from '../paint.ts';
import { horizontalBar } from '../plot.ts';
import { makeHarmless, makeHarmlessLine } from './harmless-text.ts';
import type { CurrentItem } from './labelling.ts';
import { optionKeys } from './option-keys.ts';
import { cellsOf, cutTo, padTo, wrapCells } from './text-width.ts';

export interface ScreenView {
  readonly item: CurrentItem;
  /** Of the file and the model. */
  readonly title: string;
  readonly answers: number;
  readonly openItems: number;
  /** First line of the document that is shown. */
  readonly documentStart: number;
  /** First of the options that is shown. */
  readonly optionStart: number;
  /** Digits of a key that is not whole yet. */
  readonly typed: string;
  /** Only options with this in them; undefined: all. */
  readonly search: string | undefined;
  /** Whether what is typed goes into it. */
  readonly isSearching: boolean;
  /** What has just happened. */
  readonly message: string;
}

export interface Screen {
  readonly lines: readonly string[];
  /** Whether the window is large enough to answer in. */
  readonly isUsable: boolean;
  /** As far as the view may be moved, and what one page of it is. */
  readonly document: Scrolled;
  readonly options: Scrolled;
}

export interface Scrolled {
  readonly start: number;
  readonly page: number;
  readonly total: number;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const LEAST_COLUMNS = 24;
const LEAST_ROWS = 9;
/** From this width on the model's probabilities are drawn, too. */
const WIDE_COLUMNS = 72;
const BAR_CELLS = 12;
/** Header, two rules, a line for what has happened. */
const FRAME_ROWS = 4;
const MOST_OPTION_LINES = 3;
const NO_BREAK = '\u00a0';

export function renderScreen(view: ScreenView, { columns, rows }: ScreenSize, paint: Paint): Screen {
  // Nothing is ever written into the last column: terminals differ in what they do then.
  const cells = columns - 1;
  if (columns < LEAST_COLUMNS || rows < LEAST_ROWS) return tooSmall(cells, rows);
  const parts = {
    question: renderQuestion(view.item, cells),
    document: wrapDocument(view.item.state, cells),
    options: layOutOptions(view, cells, paint),
  };
  // Which keys are of use shows only when all else has its lines.
  const first = layOut(view, parts, rows - FRAME_ROWS - 1);
  const keys = wrapCells(tellKeys(view, first), cells);
  const { room, document, options } = keys.length === 1 ? first : layOut(view, parts, rows - FRAME_ROWS - keys.length);
  const title = `${view.answers} answered, ${view.openItems} to go · ${makeHarmlessLine(view.title)}`;
  return {
    isUsable: true,
    document,
    options: options.scrolled,
    lines: [
      paint('dim', cutTo(title, cells)),
      paint('dim', rule('', cells)),
      ...padRows(parts.document.slice(document.start, document.start + document.page), room.document),
      paint('dim', rule(tellDocument(document), cells)),
      ...cutRows(parts.question, room.question).map((line) => paint('bold', line)),
      ...padRows(options.lines, room.options),
      paint('yellow', cutTo(tellInput(view, options.scrolled), cells)),
      ...keys,
    ],
  };
}

interface ScreenParts {
  readonly question: readonly string[];
  /** Of all of it. */
  readonly document: readonly string[];
  readonly options: readonly OptionLines[];
}

/** @param rows for all three */
function layOut(view: ScreenView, { question, document, options }: ScreenParts, rows: number) {
  const room = share(rows, {
    question: question.length,
    document: document.length,
    options: options.reduce((sum, { lines }) => sum + lines.length, 0),
  });
  return {
    room,
    document: window(document.length, view.documentStart, room.document),
    options: windowOfOptions(options, view.optionStart, room.options),
  };
}

/** Lines of the document; the last one it was wrapped into is remembered: it is drawn again at each key. */
let wrapped: { readonly state: string; readonly cells: number; readonly lines: readonly string[] } | undefined;

function wrapDocument(state: string, cells: number): readonly string[] {
  if (wrapped?.state !== state || wrapped.cells !== cells) {
    const text = makeHarmless(state).replace(/^\n+|\s+$/gu, '');
    wrapped = { state, cells, lines: text === '' ? ['(an empty document)'] : wrapCells(text, cells) };
  }
  return wrapped.lines;
}

function renderQuestion({ question: { name, question }, at, questionsOfRow }: CurrentItem, cells: number): string[] {
  const place = questionsOfRow > 1 ? ` (${at + 1} of ${questionsOfRow})` : '';
  return wrapCells(makeHarmlessLine(`${name}${place}: ${question.instructions}`), cells);
}

interface LineCounts {
  readonly question: number;
  readonly document: number;
  readonly options: number;
}

/** What is short gets what it needs; the document and the options share what is left. */
function share(rows: number, needed: LineCounts): LineCounts {
  const question = Math.min(needed.question, Math.max(1, Math.floor(rows / 4)));
  const rest = rows - question;
  const half = Math.floor(rest / 2);
  const options = Math.min(needed.options, Math.max(half, rest - needed.document));
  return { question, options, document: rest - options };
}

function window(total: number, wanted: number, room: number): Scrolled {
  const start = Math.max(0, Math.min(wanted, total - room));
  return { start, page: Math.min(room, total - start), total };
}

interface OptionLines {
  readonly lines: readonly string[];
}

function layOutOptions(view: ScreenView, cells: number, paint: Paint): OptionLines[] {
  const { question, probabilities, answers } = { ...view.item, question: view.item.question.question };
  const keys = optionKeys(question);
  const keyCells = Math.max(...keys.map(({ length }) => length)) + 3;
  const top = probabilities.indexOf(Math.max(...probabilities));
  const places = shownPlaces(view);
  const texts = new Map(places.map((place) => [place, makeHarmlessLine(textOfOption(question, place))]));
  const thoughtCells = cellsOf(describeThought(0, 0, cells));
  // No wider than the widest, so that what belongs together stands together.
  const textCells = Math.min(cells - keyCells - thoughtCells, Math.max(...[...texts.values()].map(cellsOf)) + 1);
  return places.map((place) => {
    const isBegun = view.typed === '' || (keys[place] ?? '').startsWith(view.typed);
    const thought = describeThought(probabilities[place] ?? 0, answers[place] ?? 0, cells);
    const text = wrapCells(texts.get(place) ?? '', Math.max(2, textCells - 1));
    const shown = cutRows(text, MOST_OPTION_LINES);
    const mark = place === top ? '›' : ' ';
    const lines = shown.map((line, at) => {
      if (at > 0) return `${' '.repeat(keyCells)}${line}`;
      const key = `${mark}${(keys[place] ?? '').padStart(keyCells - 2)} `;
      return `${isBegun ? paint('cyan', key) : key}${padTo(line, textCells)}${paint('dim', thought)}`;
    });
    return { lines };
  });
}

/** Few options keep their places; of many the most probable come first, their keys stay. */
export function shownPlaces({ item, search }: Pick<ScreenView, 'item' | 'search'>): number[] {
  const { question } = item.question;
  const keys = optionKeys(question);
  const places = keys.map((_, place) => place);
  const wanted = search?.toLowerCase();
  const found =
    wanted === undefined
      ? places
      : places.filter((place) => textOfOption(question, place).toLowerCase().includes(wanted));
  if (question.type !== 'choice' || (keys[0] ?? '').length === 1) return found;
  return found.toSorted((a, b) => (item.probabilities[b] ?? 0) - (item.probabilities[a] ?? 0) || a - b);
}

function textOfOption(question: Question, place: number): string {
  const name = answerNames(question)[place] ?? '';
  switch (question.type) {
    case 'choice': {
      const description = question.options[place]?.description;
      return description == null ? name : `${name} – ${description}`;
    }
    case 'score':
      return question.levels[place] ?? '';
    case 'noul': {
      const description = place === 1 ? question.whenTrue : question.whenFalse;
      const word = place === 1 ? 'yes' : 'no';
      return description === null ? word : `${word} – ${description}`;
    }
  }
}

/** A bar where there is room, the probability, how many were answered so. */
function describeThought(probability: number, answers: number, cells: number): string {
  const percent = `${Math.round(probability * 100)} %`.padStart(5);
  const count = answers === 0 ? '' : `×${answers}`;
  if (cells < WIDE_COLUMNS) return `${percent} ${count.padEnd(4)}`;
  return ` ${horizontalBar(probability, BAR_CELLS).padEnd(BAR_CELLS)} ${percent} ${count.padEnd(5)}`;
}

/** Whole options, from the first one that is wanted. */
function windowOfOptions(options: readonly OptionLines[], wanted: number, room: number) {
  const from = (start: number): { lines: string[]; page: number } => {
    const lines: string[] = [];
    let page = 0;
    for (const option of options.slice(start)) {
      if (lines.length + option.lines.length > room && page > 0) break;
      lines.push(...cutRows(option.lines, room));
      page++;
    }
    return { lines, page };
  };
  const start = wanted < options.length ? wanted : 0;
  const { lines, page } = from(start);
  return { lines, scrolled: { start, page, total: options.length } };
}

/** The last of them shows that there are more. */
function cutRows(lines: readonly string[], rows: number): string[] {
  if (lines.length <= rows) return [...lines];
  return lines.slice(0, rows).map((line, at) => (at === rows - 1 ? `${line.replace(/ ?.$/u, '')}…` : line));
}

function padRows(lines: readonly string[], rows: number): string[] {
  return [...lines, ...Array.from({ length: Math.max(0, rows - lines.length) }, () => '')];
}

function rule(text: string, cells: number): string {
  const begin = text === '' ? '' : `── ${text} `;
  return cutTo(begin + '─'.repeat(Math.max(0, cells - cellsOf(begin))), cells);
}

function tellDocument({ start, page, total }: Scrolled): string {
  return page < total ? `lines ${start + 1}–${start + page} of ${total}` : '';
}

function tellInput({ message, typed, search, isSearching }: ScreenView, { page, total, start }: Scrolled): string {
  if (isSearching) return `Options with: ${makeHarmless(search ?? '')}_`;
  if (typed !== '') return `Key: ${typed}_`;
  const shown = page < total ? `Options ${start + 1}–${start + page} of ${total}` : '';
  return [shown, message].filter((text) => text !== '').join(' · ');
}

/** Those that are of use now. */
function tellKeys({ isSearching, item }: ScreenView, { document, options }: ReturnType<typeof layOut>): string {
  if (isSearching) return 'Enter: find  Esc: all';
  const hasDigits = (optionKeys(item.question.question)[0] ?? '').length > 1;
  const keys = [
    's skip',
    'u undo',
    'q quit',
    ...(document.page < document.total ? ['space more'] : []),
    ...(options.scrolled.page < options.scrolled.total ? ['tab options'] : []),
    ...(hasDigits ? ['/ find'] : []),
  ];
  return keys.map((key) => key.replace(' ', NO_BREAK)).join('  ');
}

function tooSmall(cells: number, rows: number): Screen {
  const none = { start: 0, page: 0, total: 0 };
  const text = `Too small: ${LEAST_COLUMNS} × ${LEAST_ROWS} at least. q quits.`;
  const lines = cells < 2 ? [] : wrapCells(text, cells).slice(0, rows);
  return { lines, isUsable: false, document: none, options: none };
}
