// Labelled rows by document and by question: what is read once, and under which hashes its answers stand. Pure.

import { QUESTION_LIMITS, type Question } from '../domain/question.ts';
import type { RowRefusal } from '../quality/asking.ts';
import type { LabelledRow } from '../quality/labelled-row.ts';
import { identify, type QuestionIdentity } from './frozen-rows.ts';
import { LearnError } from './learn-error.ts';

/** A question of the rows, under the name and the order of options of the first row that asks it. */
export interface AskedQuestion {
  readonly name: string;
  readonly question: Question;
  readonly identity: QuestionIdentity;
  /** `[options]`, as the identity orders them. */
  readonly optionNames: readonly string[];
}

export interface DocumentAnswer {
  readonly asked: AskedQuestion;
  /** Of the file, from 1. */
  readonly line: number;
  /** `[options]`, as the identity orders them; sums to 1. */
  readonly target: readonly number[];
}

export interface RowDocument {
  readonly state: string;
  readonly answers: DocumentAnswer[];
}

/** Equal documents are one, equal questions too. @throws LearnError where a question is none that a server would answer */
export function groupByDocument(rows: readonly LabelledRow[]): RowDocument[] {
  const documents = new Map<string, RowDocument>();
  const questions = new QuestionIndex();
  const faults: RowRefusal[] = [];
  for (const { line, state, questions: labelled } of rows) {
    const document = documents.get(state) ?? { state, answers: [] };
    documents.set(state, document);
    for (const { task, question, names, target } of labelled) {
      const fault = findQuestionFault(question);
      if (fault !== undefined) {
        faults.push({ line, message: `question "${task}": ${fault}` });
        continue;
      }
      const { asked, order } = questions.find(task, question, names);
      document.answers.push({ asked, line, target: order.map((place) => target[place] ?? 0) });
    }
  }
  if (faults.length > 0) throw new LearnError('invalid_rows', 'The rows have faults:', faults);
  return [...documents.values()];
}

class QuestionIndex {
  /** By their hashes. */
  readonly #asked = new Map<string, AskedQuestion>();
  /** Rows that share a question have one object for it. */
  readonly #known = new WeakMap<Question, { asked: AskedQuestion; order: readonly number[] }>();

  /** @param names of the options, in the order of the question. @returns places in the question, as the identity orders them */
  find(name: string, question: Question, names: readonly string[]): { asked: AskedQuestion; order: readonly number[] } {
    const known = this.#known.get(question);
    if (known !== undefined) return known;
    const identity = identify(question);
    const key = [identity.type, identity.asked, ...identity.options].join();
    const optionNames = identity.order.map((place) => names[place] ?? '');
    const asked = this.#asked.get(key) ?? { name, question, identity, optionNames };
    this.#asked.set(key, asked);
    const found = { asked, order: identity.order };
    this.#known.set(question, found);
    return found;
  }
}

function findQuestionFault(question: Question): string | undefined {
  const { choiceOptions, scoreLevels } = QUESTION_LIMITS;
  if (question.type === 'choice') {
    const count = question.options.length;
    if (count < 2) return 'it has one option, so there is nothing to learn';
    return count > choiceOptions.max ? `it has ${count} options, of ${choiceOptions.max} at most` : undefined;
  }
  if (question.type !== 'score') return undefined;
  const { min, max } = scoreLevels;
  const count = question.levels.length;
  return count < min || count > max ? `it has ${count} levels; a score has ${min} to ${max}` : undefined;
}
