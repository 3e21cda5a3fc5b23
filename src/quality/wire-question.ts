// One question between a labelled file, the domain and a request. Checks what it reads; limits are checked by whoever
// is asked. Pure.

import { isRecord } from '../domain/json.ts';
import type { ChoiceOption, Question } from '../domain/question.ts';

/** What is wrong with a row, without its line. */
export class RowFault extends Error {
  override readonly name = 'RowFault';
  /** Without a text of the row. */
  readonly unquoted: string;

  /** @param unquoted where the message quotes the row */
  constructor(message: string, unquoted = message) {
    super(message);
    this.unquoted = unquoted;
  }
}

/** @param raw a question as a request has it. @throws RowFault */
export function parseQuestion(raw: unknown): Question {
  if (!isRecord(raw)) throw new RowFault('it must be an object');
  const { type, instructions, criteria } = raw;
  if (typeof instructions !== 'string' || instructions === '') throw new RowFault('it has no instructions');
  switch (type) {
    case 'choice':
      return { type, instructions, options: parseOptions(criteria) };
    case 'score':
      return { type, instructions, levels: parseLevels(criteria) };
    case 'noul':
      return { type, instructions, ...parseSides(criteria) };
    default:
      throw new RowFault('its \'type\' must be "choice", "score" or "noul"');
  }
}

function parseOptions(criteria: unknown): ChoiceOption[] {
  if (!isRecord(criteria) || Object.keys(criteria).length === 0) {
    throw new RowFault("the 'criteria' of a choice must be an object with at least one option");
  }
  return Object.entries(criteria).map(([name, description]) => ({ name, description: parseDescription(description) }));
}

function parseLevels(criteria: unknown): string[] {
  if (!Array.isArray(criteria) || !criteria.every((level) => typeof level === 'string')) {
    throw new RowFault("the 'criteria' of a score must be an array of strings");
  }
  return criteria;
}

function parseSides(criteria: unknown): { whenFalse: string | null; whenTrue: string | null } {
  if (criteria !== undefined && criteria !== null && !isRecord(criteria)) {
    throw new RowFault("the 'criteria' of a noul must be an object with 'true' and 'false'");
  }
  const sides = criteria ?? {};
  return { whenFalse: parseDescription(sides['false'] ?? null), whenTrue: parseDescription(sides['true'] ?? null) };
}

function parseDescription(value: unknown): string | null {
  if (value !== null && typeof value !== 'string') throw new RowFault('a description must be a string or null');
  return value;
}

/** The question in JSON, as a request has it, its options in their order: an object would move "10" to the front. */
export function writeQuestion(question: Question): string {
  const head = `{"type":"${question.type}","instructions":${JSON.stringify(question.instructions)}`;
  switch (question.type) {
    case 'choice': {
      const members = question.options.map(
        ({ name, description }) => `${JSON.stringify(name)}:${JSON.stringify(description)}`,
      );
      return `${head},"criteria":{${members.join(',')}}}`;
    }
    case 'score':
      return `${head},"criteria":${JSON.stringify(question.levels)}}`;
    case 'noul':
      return `${head},"criteria":${JSON.stringify({ true: question.whenTrue, false: question.whenFalse })}}`;
  }
}
