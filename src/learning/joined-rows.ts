// Rows learned earlier and new ones, as questions that heads are fitted on. Options of a choice may have grown: a set of
// options that lies within a larger one of the same instructions is part of it, and what a row was not offered is NaN. Pure.

import type { ChoiceQuestion } from '../domain/question.ts';
import { type FrozenQuestion, type FrozenRow, identify } from './frozen-rows.ts';
import type { OptionRename } from './learn-order.ts';

export interface JoinedRows {
  /** Earlier ones first. */
  readonly questions: readonly FrozenQuestion[];
  /** Of them those that new rows ask. */
  readonly touched: ReadonlySet<FrozenQuestion>;
  /** Earlier answers that gave way to new ones of the same document. */
  readonly replacedAnswers: number;
}

/** A new answer takes the place of earlier ones about the same document. */
export function joinRows(earlier: readonly FrozenQuestion[], fresh: readonly FrozenQuestion[]): JoinedRows {
  const all = [...earlier, ...fresh];
  const homes = new Map<FrozenQuestion, { old: FrozenRow[]; young: FrozenRow[] }>();
  for (const question of all) {
    const home = findHome(question, all);
    const rows = homes.get(home) ?? { old: [], young: [] };
    homes.set(home, rows);
    rows[fresh.includes(question) ? 'young' : 'old'].push(...spread(question, home));
  }
  const touched = new Set<FrozenQuestion>();
  let replacedAnswers = 0;
  const questions = all.flatMap((home) => {
    const rows = homes.get(home);
    if (rows === undefined) return [];
    const answered = new Set(rows.young.map(({ state }) => state));
    const kept = rows.old.filter(({ state }) => !answered.has(state));
    replacedAnswers += rows.old.length - kept.length;
    const question = { ...home, rows: [...kept, ...rows.young] };
    if (rows.young.length > 0) touched.add(question);
    return [question];
  });
  return { questions, touched, replacedAnswers };
}

/** The largest question that has all its options, the first of several; itself where there is none. */
function findHome(question: FrozenQuestion, all: readonly FrozenQuestion[]): FrozenQuestion {
  const wider = all.filter((other) => isWithin(question, other));
  return wider.reduce((a, b) => (b.options.length > a.options.length ? b : a), wider[0] ?? question);
}

function isWithin({ type, asked, options }: FrozenQuestion, other: FrozenQuestion): boolean {
  if (other.type !== type || other.asked !== asked) return false;
  const known = new Set(other.options);
  return options.every((option) => known.has(option));
}

function spread({ options, rows }: FrozenQuestion, home: FrozenQuestion): readonly FrozenRow[] {
  const places = home.options.map((option) => options.indexOf(option));
  if (places.every((place, at) => place === at)) return rows;
  const lay = (values: readonly number[], absent: number): number[] =>
    places.map((place) => (place < 0 ? absent : (values[place] ?? absent)));
  return rows.map((row) => ({ ...row, zeroShot: lay(row.zeroShot, Number.NaN), target: lay(row.target, 0) }));
}

/**
 * Earlier rows under new names of options. Their texts are gone, so an option is known by its hash: that of the old name
 * with the description of the new one, or with none.
 * @param asked choices of the new rows
 */
export function renameOptions(
  earlier: readonly FrozenQuestion[],
  asked: readonly ChoiceQuestion[],
  renames: readonly OptionRename[],
): { readonly questions: readonly FrozenQuestion[]; readonly done: ReadonlySet<OptionRename> } {
  const done = new Set<OptionRename>();
  const hashes = new Map<string, Map<string, string>>();
  for (const question of asked) {
    for (const rename of renames) {
      const option = question.options.find(({ name }) => name === rename.to);
      if (option === undefined) continue;
      const hashOf = (name: string, description: string | null) =>
        identify({ ...question, options: [{ name, description }] });
      const now = hashOf(rename.to, option.description);
      const known = hashes.get(now.asked) ?? new Map<string, string>();
      hashes.set(now.asked, known);
      for (const description of [null, option.description]) {
        const [before = ''] = hashOf(rename.from, description).options;
        known.set(before, now.options[0] ?? '');
        if (earlier.some((other) => other.asked === now.asked && other.options.includes(before))) done.add(rename);
      }
    }
  }
  const questions = earlier.map((question) => {
    const known = question.type === 'choice' ? hashes.get(question.asked) : undefined;
    return known === undefined ? question : withOptions(question, known);
  });
  return { questions, done };
}

function withOptions(question: FrozenQuestion, renamed: ReadonlyMap<string, string>): FrozenQuestion {
  const names = question.options.map((option) => renamed.get(option) ?? option);
  if (names.every((name, place) => name === question.options[place])) return question;
  const options = [...new Set(names)].sort();
  // Two that have one name now are one option: what they had, it has together.
  const add = (values: readonly number[]): number[] => options.map((option) => addUp(names, values, option));
  const rows = question.rows.map((row) => ({ ...row, zeroShot: add(row.zeroShot), target: add(row.target) }));
  return { ...question, options, rows };
}

function addUp(names: readonly string[], values: readonly number[], option: string): number {
  const own = values.filter((value, place) => names[place] === option && !Number.isNaN(value));
  return own.length === 0 ? Number.NaN : own.reduce((total, value) => total + value, 0);
}
