// Options that have another name by now: rows that say the old one mean the new one. Pure.

import { isRecord } from '../domain/json.ts';
import type { Question } from '../domain/question.ts';

/** Old name → new name. */
export type OptionRenames = ReadonlyMap<string, string>;

/** The question with new names; itself where it has no old one. An option that would be there twice is there once. */
export function renameOptionsOf(question: Question, renames: OptionRenames): Question {
  if (question.type !== 'choice' || !question.options.some(({ name }) => renames.has(name))) return question;
  const given = new Set(question.options.map(({ name }) => name));
  const options = question.options
    .filter(({ name }) => !given.has(renames.get(name) ?? ''))
    .map(({ name, description }) => ({ name: renames.get(name) ?? name, description }));
  return { ...question, options };
}

/** What is right, under new names. @param right `gold` or `soft` of a choice */
export function renameRight(right: unknown, renames: OptionRenames): unknown {
  if (typeof right === 'string') return renames.get(right) ?? right;
  if (!isRecord(right) || !Object.keys(right).some((name) => renames.has(name))) return right;
  const shares = new Map<string, unknown>();
  for (const [name, share] of Object.entries(right)) {
    const now = renames.get(name) ?? name;
    const before = shares.get(now);
    // What is no number is told where shares are read.
    shares.set(now, typeof before === 'number' && typeof share === 'number' ? before + share : share);
  }
  return Object.fromEntries(shares);
}
