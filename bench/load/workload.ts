// The requests the bench sends: documents of an exact number of tokens, questions, and the grid of mixes. Pure and seeded.

import type { Question } from '../../src/domain/question.ts';
import { VOCABULARY } from './vocabulary.ts';

/** Bodies as they go over the wire; the decision bodies have ordinary names, so a plain object keeps their order. */
export interface DecisionBody {
  readonly model: string;
  readonly state: string;
  readonly questions: Readonly<Record<string, WireQuestion>>;
}

export interface EmbeddingBody {
  readonly model: string;
  readonly input: string | readonly string[];
  readonly encoding_format: 'base64';
}

type WireQuestion =
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

/** One line of the grid: every call of `makeBody` gives a body of the same cost that was never sent before. */
export interface Mix {
  readonly name: string;
  readonly path: '/ai/v1/systemone' | '/ai/v1/embeddings';
  readonly makeBody: () => string;
}

export const DECISION_MODEL = 'kev';
export const EMBEDDING_MODEL = 'text-embed-mini';

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

/** Four options each; the instructions differ, so that no two questions of a request are the same. */
function makeChoice(index: number): WireQuestion {
  return { type: 'choice', instructions: `Which team should handle point ${index} of this message?`, criteria: TEAMS };
}

function makePair(index: number): WireQuestion {
  return { type: 'choice', instructions: `Which team takes point ${index}?`, criteria: TWO_TEAMS };
}

function makeQuestion(index: number): WireQuestion {
  if (index % 4 === 1) return { type: 'noul', instructions: `Does point ${index} need an answer today?` };
  if (index % 4 === 2) {
    const criteria = ['calm', 'a little annoyed', 'frustrated', 'angry', 'very angry'];
    return { type: 'score', instructions: `How upset is the writer about point ${index}?`, criteria };
  }
  return makeChoice(index);
}

export interface DecisionSize {
  readonly stateTokens: number;
  readonly questions: number;
  /** `mixed`: choice, noul, score, choice, …; `choice`: four options each; `pair`: two. */
  readonly kind?: 'mixed' | 'choice' | 'pair';
}

const QUESTION_KINDS = { mixed: makeQuestion, choice: makeChoice, pair: makePair } as const;

/** @param random where the words come from; default: a source that all callers share */
export function makeDecision(
  { stateTokens, questions, kind = 'mixed' }: DecisionSize,
  random?: () => number,
): DecisionBody {
  return makeDecisionAbout(makeDocument(stateTokens, random), { questions, kind });
}

/** @param state a document, which may be one that was asked about before */
export function makeDecisionAbout(
  state: string,
  { questions, kind = 'mixed', firstQuestion = 0 }: Omit<DecisionSize, 'stateTokens'> & { firstQuestion?: number },
): DecisionBody {
  const make = QUESTION_KINDS[kind];
  const entries = Array.from({ length: questions }, (_, index) => {
    const number = firstQuestion + index;
    return [`question_${number}`, make(number)] as const;
  });
  return { model: DECISION_MODEL, state, questions: Object.fromEntries(entries) };
}

/** The questions of a body as the runtime takes them. */
export function toQuestions({ questions }: DecisionBody): Question[] {
  return Object.values(questions).map((question): Question => {
    const { type, instructions } = question;
    if (type === 'noul') {
      const { criteria } = question;
      return { type, instructions, whenFalse: criteria?.false ?? null, whenTrue: criteria?.true ?? null };
    }
    if (type === 'score') return { type, instructions, levels: question.criteria };
    const options = Object.entries(question.criteria).map(([name, description]) => ({ name, description }));
    return { type, instructions, options };
  });
}

function makeEmbedding(input: string | readonly string[]): EmbeddingBody {
  return { model: EMBEDDING_MODEL, input, encoding_format: 'base64' };
}

function decisionMix(name: string, size: DecisionSize): Mix {
  return { name, path: '/ai/v1/systemone', makeBody: () => JSON.stringify(makeDecision(size)) };
}

function embeddingMix(name: string, makeInput: () => string | readonly string[]): Mix {
  return { name, path: '/ai/v1/embeddings', makeBody: () => JSON.stringify(makeEmbedding(makeInput())) };
}

const LENGTHS = [
  ['short', 64],
  ['medium', 512],
  ['long', 2000],
] as const;

/** 32 inputs from 8 to 248 tokens: what an indexing job sends. */
function makeMixedInputs(): string[] {
  return Array.from({ length: 32 }, (_, index) => makeDocument(8 + ((index * 104) % 241)));
}

export function listMixes(isQuick: boolean): readonly Mix[] {
  const questionCounts = isQuick ? [1, 4] : [1, 4, 16];
  const lengths = isQuick ? LENGTHS.slice(0, 2) : LENGTHS;
  return [
    ...lengths.flatMap(([name, stateTokens]) =>
      questionCounts.map((questions) => decisionMix(`decide ${name} × ${questions}`, { stateTokens, questions })),
    ),
    embeddingMix('embed 1 × 16 tokens', () => makeDocument(16)),
    ...(isQuick ? [] : [embeddingMix('embed 1 × 254 tokens', () => makeDocument(254))]),
    embeddingMix('embed 32 × 8–248 tokens', makeMixedInputs),
  ];
}
