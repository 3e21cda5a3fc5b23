// Labelled rows as heads are fitted on them: vectors, the base's probabilities and what is right, under hashes. Pure.

import { hash } from 'node:crypto';
import type { Question, QuestionType } from '../domain/question.ts';

export interface FrozenRow {
  /** Of the file, from 1; 0: of a file that was learned earlier. */
  readonly line: number;
  /** `hashOfState` of the document. */
  readonly state: string;
  /** `[dimensions]` */
  readonly vector: Float32Array;
  /** `[options]`, in the order of the question's options: the base's probabilities. */
  readonly zeroShot: readonly number[];
  /** `[options]`, in the same order; sums to 1. */
  readonly target: readonly number[];
}

export interface FrozenQuestion {
  readonly type: QuestionType;
  readonly asked: string;
  readonly options: readonly string[];
  readonly rows: readonly FrozenRow[];
}

/** What makes two questions the same, whatever they are called and however their options are ordered. */
export interface QuestionIdentity {
  readonly type: QuestionType;
  /** SHA-256 hex of type and instructions; noul and score: criteria too. */
  readonly asked: string;
  /** `[options]` SHA-256 hex of each; choice: ascending; noul: false, true; score: levels in order. */
  readonly options: readonly string[];
  /** `[options]`: place in the request of each. */
  readonly order: readonly number[];
}

export function identify(question: Question): QuestionIdentity {
  const options = hashOptions(question);
  const order = options.map((_, place) => place);
  if (question.type === 'choice') order.sort((a, b) => compare(options[a] ?? '', options[b] ?? ''));
  return {
    type: question.type,
    asked: hashOfAsked(question),
    options: order.map((place) => options[place] ?? ''),
    order,
  };
}

/** SHA-256 hex of what is asked, options of a choice left out. */
export function hashOfAsked(question: Question): string {
  const { type, instructions } = question;
  switch (type) {
    case 'choice':
      return hashTexts([type, instructions]);
    case 'noul':
      return hashTexts([type, instructions, described(question.whenFalse), described(question.whenTrue)]);
    case 'score':
      return hashTexts([type, instructions, ...question.levels]);
  }
}

/** SHA-256 hex of a document: by it duplicates are found. */
export function hashOfState(state: string): string {
  return hashTexts(['state', state]);
}

/** `[options]`, in the order of the request */
function hashOptions(question: Question): string[] {
  switch (question.type) {
    case 'choice':
      return question.options.map(({ name, description }) => hashTexts(['option', name, described(description)]));
    case 'noul':
      return [hashTexts(['false', described(question.whenFalse)]), hashTexts(['true', described(question.whenTrue)])];
    case 'score':
      return question.levels.map((level) => hashTexts(['level', level]));
  }
}

/** An empty description is none: a model reads the name alone. */
function described(description: string | null): string | null {
  return description || null;
}

/** JSON tells texts apart wherever one ends, and writes a lone surrogate as itself. */
function hashTexts(texts: readonly (string | null)[]): string {
  return hash('sha256', JSON.stringify(texts), 'hex');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
