// The reply to a decision as the page shows it: a bar for each option, in the order of the form.

import { RequestError } from '../api/call-api.ts';
import { type QuestionDraft, writtenOptions } from './question-draft.ts';

export interface AnswerBar {
  readonly label: string;
  /** What the option means, where its label does not say it. */
  readonly detail: string;
  readonly probability: number;
}

export interface ShownAnswer {
  readonly name: string;
  readonly type: QuestionDraft['type'];
  readonly instructions: string;
  readonly bars: readonly AnswerBar[];
  /** The likeliest: what would be acted on. */
  readonly best: AnswerBar;
  /** Absent for a noul, whose probability says it. */
  readonly confidence: number | undefined;
  /** Of a score: the expected level, and the highest there is. */
  readonly score: { readonly value: number; readonly highest: number } | undefined;
}

/** @throws RequestError where the reply is none of a decision */
export function readAnswers(body: unknown, drafts: readonly QuestionDraft[]): ShownAnswer[] {
  const answers = namedMembers(namedMembers(body).get('answers'));
  return drafts.map((draft) => readAnswer(draft, namedMembers(answers.get(draft.name))));
}

type Members = ReadonlyMap<string, unknown>;

function readAnswer(draft: QuestionDraft, answer: Members): ShownAnswer {
  const { name, type, instructions } = draft;
  const bars = readBars(draft, answer);
  const best = bars.reduce((one, other) => (other.probability > one.probability ? other : one));
  const score = type === 'score' ? { value: readNumber(answer.get('score')), highest: bars.length - 1 } : undefined;
  const confidence = type === 'noul' ? undefined : readNumber(answer.get('confidence'));
  return { name, type, instructions, bars, best, confidence, score };
}

function readBars({ type, options, levels, yes, no }: QuestionDraft, answer: Members): AnswerBar[] {
  if (type === 'noul') {
    const probability = readNumber(answer.get('noul'));
    return [
      { label: 'yes', detail: yes, probability },
      { label: 'no', detail: no, probability: 1 - probability },
    ];
  }
  const probabilities = namedMembers(answer.get('probabilities'));
  const probabilityOf = (name: string): number => readNumber(probabilities.get(name));
  if (type === 'choice') {
    return writtenOptions(options).map(({ name, description }) => ({
      label: name,
      detail: description,
      probability: probabilityOf(name),
    }));
  }
  return levels.filter(Boolean).map((level, index) => ({
    label: `${index}`,
    detail: level,
    probability: probabilityOf(`${index}`),
  }));
}

/** By any name, `__proto__` too. */
function namedMembers(value: unknown): Members {
  if (typeof value === 'object' && value !== null) return new Map(Object.entries(value));
  throw unreadable();
}

function readNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  throw unreadable();
}

function unreadable(): RequestError {
  return new RequestError('The reply is not what this page expects. Was the server updated? Reload the page.', {
    code: 'unreadable',
  });
}
