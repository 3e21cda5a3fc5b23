// The requests the bench sends: documents of an exact number of tokens, questions about them, and how they go over the wire,
// which is the same for all servers. Pure and seeded.

import type { Question } from '../../src/domain/question.ts';
import { parseQuestion } from '../../src/quality/wire-question.ts';
import { VOCABULARY } from './vocabulary.ts';

export const DECISION_MODEL = 'kev';
export const EMBEDDING_MODEL = 'text-embed-mini';

/** As it goes over the wire; the questions have ordinary names, so a plain object keeps their order. */
export interface DecisionBody {
  readonly model: string;
  readonly state: string;
  readonly questions: Readonly<Record<string, WireQuestion>>;
}

export type WireQuestion =
  | {
      readonly type: 'choice';
      readonly instructions: string;
      readonly criteria: Readonly<Record<string, string | null>>;
    }
  | { readonly type: 'score'; readonly instructions: string; readonly criteria: readonly string[] }
  | {
      readonly type: 'noul';
      readonly instructions: string;
      readonly criteria?: { readonly true: string | null; readonly false: string | null };
    };

export type Job =
  | { readonly task: 'decision'; readonly body: DecisionBody }
  /** Absent: the shipped model. */
  | { readonly task: 'embedding'; readonly inputs: readonly string[]; readonly model?: string };
export type Task = Job['task'];

/** One request of a load. */
export interface Work {
  readonly job: Job;
  /** Counted here and not by the servers, which count differently: texts, questions and options, each once. */
  readonly tokens: number;
  /** Class of length. */
  readonly group: string;
}

export function requestFor(job: Job): { readonly path: string; readonly body: string } {
  if (job.task === 'decision') return { path: '/ai/v1/systemone', body: JSON.stringify(job.body) };
  const body = { model: job.model ?? EMBEDDING_MODEL, input: job.inputs, encoding_format: 'base64' };
  return { path: '/ai/v1/embeddings', body: JSON.stringify(body) };
}

/** mulberry32: small, seeded, good enough to shuffle words. @returns numbers in [0, 1) */
export function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const sharedRandom = makeRandom(20_261_121);

/** Words that are one token each, in random order: fresh text of an exact length, so that no cache can answer it. */
export function makeDocument(tokens: number, random = sharedRandom): string {
  const words = Array.from({ length: tokens }, () => VOCABULARY[Math.floor(random() * VOCABULARY.length)] ?? 'the');
  return words.join(' ');
}

const TEAMS = {
  billing: 'payments, refunds, invoices',
  technical: 'bugs, outages, errors',
  sales: 'prices, new contracts',
  legal: 'claims, privacy, law',
};
const TWO_TEAMS = { billing: 'payments', technical: 'bugs' };
const MOODS = ['calm', 'a little annoyed', 'frustrated', 'angry', 'very angry'];

/** The instructions differ, so that no two questions of a request are the same. */
const QUESTION_KINDS = {
  choice: (index: number): WireQuestion => ({
    type: 'choice',
    instructions: `Which team should handle point ${index} of this message?`,
    criteria: TEAMS,
  }),
  pair: (index: number): WireQuestion => ({
    type: 'choice',
    instructions: `Which team takes point ${index}?`,
    criteria: TWO_TEAMS,
  }),
  mixed: (index: number): WireQuestion => {
    if (index % 4 === 1) return { type: 'noul', instructions: `Does point ${index} need an answer today?` };
    if (index % 4 !== 2) return QUESTION_KINDS.choice(index);
    return { type: 'score', instructions: `How upset is the writer about point ${index}?`, criteria: MOODS };
  },
};

export interface DecisionSize {
  readonly stateTokens: number;
  readonly questions: number;
  /** `mixed`: choice, noul, score, choice, …; `choice`: four options each; `pair`: two. */
  readonly kind?: keyof typeof QUESTION_KINDS;
}

/** @param random where the words come from; default: a source that all callers share */
export function makeDecision({ stateTokens, ...asked }: DecisionSize, random?: () => number): DecisionBody {
  return makeDecisionAbout(makeDocument(stateTokens, random), asked);
}

/** @param state a document, which may be one that was asked about before */
export function makeDecisionAbout(
  state: string,
  { questions, kind = 'mixed', firstQuestion = 0 }: Omit<DecisionSize, 'stateTokens'> & { firstQuestion?: number },
): DecisionBody {
  const numbers = Array.from({ length: questions }, (_, index) => firstQuestion + index);
  const entries = numbers.map((number) => [`question_${number}`, QUESTION_KINDS[kind](number)] as const);
  return { model: DECISION_MODEL, state, questions: Object.fromEntries(entries) };
}

/** A decision about a new document. */
export function decisionJob(size: DecisionSize, random?: () => number): Extract<Job, { task: 'decision' }> {
  return { task: 'decision', body: makeDecision(size, random) };
}

/** 32 inputs from 8 to 248 tokens: what an indexing job sends. */
export function makeMixedInputs(random?: () => number): string[] {
  return Array.from({ length: 32 }, (_, index) => makeDocument(8 + ((index * 104) % 241), random));
}

/** The questions of a body as the runtime takes them. */
export function toQuestions({ questions }: DecisionBody): Question[] {
  return Object.values(questions).map(parseQuestion);
}
