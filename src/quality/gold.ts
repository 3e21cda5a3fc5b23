// What is right about a question, as shares of its options: `gold` names one, `soft` gives each its share. Pure.

import { isRecord } from '../domain/json.ts';
import type { Question } from '../domain/question.ts';
import { RowFault } from './wire-question.ts';

export interface Target {
  /** `[options]`; noul: false, true; of a score its levels' numbers. */
  readonly names: readonly string[];
  /** `[options]`, sums to 1. */
  readonly target: readonly number[];
}

/** @throws RowFault when neither is given, or names what the question does not have */
export function toTarget(question: Question, { gold, soft }: { gold?: unknown; soft?: unknown }): Target {
  const names = answerNames(question);
  if (gold !== undefined && soft !== undefined) throw new RowFault("it has both 'gold' and 'soft'");
  if (soft !== undefined)
    return { names, target: toShares(names, Array.isArray(soft) ? Object.assign({}, soft) : soft) };
  if (gold === undefined) throw new RowFault("it has no right answer: 'gold' or 'soft'");
  if (!isGold(question, gold)) throw new RowFault(GOLD_MESSAGES[question.type]);
  return { names, target: toShares(names, { [String(gold)]: 1 }) };
}

const NO_OPTION = 'what it says is right is none of its options';

const GOLD_MESSAGES = {
  choice: "the 'gold' of a choice must be the name of an option",
  noul: "the 'gold' of a noul must be true or false",
  score: "the 'gold' of a score must be the number of a level, from 0",
} as const;

/** `[options]`; noul: false, true; of a score the numbers of its levels. */
export function answerNames(question: Question): string[] {
  switch (question.type) {
    case 'choice':
      return question.options.map(({ name }) => name);
    case 'score':
      return question.levels.map((_, level) => String(level));
    case 'noul':
      return ['false', 'true'];
  }
}

function isGold({ type }: Question, gold: unknown): boolean {
  return typeof gold === { choice: 'string', noul: 'boolean', score: 'number' }[type];
}

/** @param shares by name, not negative, any sum above 0. @throws RowFault */
export function toShares(names: readonly string[], shares: unknown): number[] {
  if (!isRecord(shares)) throw new RowFault("'soft' must be an object: option name → share");
  const given = new Map(Object.entries(shares));
  for (const [name, share] of given) {
    if (!names.includes(name)) throw new RowFault(`"${name}" is none of its options`, NO_OPTION);
    if (typeof share !== 'number' || !(share >= 0)) throw new RowFault('a share must be a number, not negative');
  }
  const values = names.map((name) => Number(given.get(name) ?? 0));
  const total = values.reduce((sum, value) => sum + value, 0);
  if (!(total > 0)) throw new RowFault('its shares sum to 0');
  return values.map((value) => value / total);
}
