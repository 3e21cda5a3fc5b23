// How one case of each family is run: for golden cases that are checked, and for those that are made. What counts as
// agreement is golden.ts's.

import type { Question } from '../domain/question.ts';
import { relevanceOf } from '../domain/relevance.ts';
import { sum } from '../domain/sum.ts';
import { MarkerEncoder } from './families/marker-encoder/marker-encoder.ts';
import { hypothesesOf } from './families/pair-scorer/hypotheses.ts';
import { entailmentProbabilities } from './families/pair-scorer/pair-readout.ts';
import { PairScorer } from './families/pair-scorer/pair-scorer.ts';
import type { DecisionTexts } from './families/split-encoder/decision-tokens.ts';
import { tokenizeQuestion } from './families/split-encoder/prompt.ts';
import { SplitEncoder } from './families/split-encoder/split-encoder.ts';
import { TextEncoder } from './families/text-encoder/text-encoder.ts';
import type { ModelFamily } from './family-tasks.ts';
import type { TimedCase } from './load-report.ts';
import type { DecideReply, PairItem, SharingTask, TaskReply } from './messages.ts';
import { type DecisionCase, type EmbeddingCase, type RankingCase, toQuestion } from './model-folder/golden.ts';
import type { EntailmentManifest, RerankerManifest } from './model-folder/manifest.ts';
import { countFrameIds } from './tokenizer/frames.ts';

/** What answers questions. */
export type DecidingFamily = SplitEncoder | PairScorer<EntailmentManifest> | MarkerEncoder;

/** Whether it ranks documents; else it answers questions or gives vectors. */
export function isRerankerFamily(family: ModelFamily): family is PairScorer<RerankerManifest> {
  return family instanceof PairScorer && family.manifest.type === 'reranker';
}

export interface CaseRun extends TimedCase {
  /** Probabilities of each question; one vector; the documents' scores. */
  readonly answers: readonly ArrayLike<number>[];
  readonly inputTokens: number;
}

export function runDecisionCase(family: DecidingFamily, texts: DecisionTexts): Promise<CaseRun> {
  if (family instanceof SplitEncoder) return runSplit(family, texts);
  return family instanceof MarkerEncoder ? runMarkers(family, texts) : runHypotheses(family, texts);
}

export async function runEmbeddingCase(family: TextEncoder, input: string): Promise<CaseRun> {
  const inputs = [{ place: 0, input }];
  const reply = await family.embed({ inputs, longInputs: 'refuse', dimensions: undefined, encoding: 'float' });
  const [vector] = reply.embeddings;
  if (!(vector instanceof Float32Array)) throw new Error('an embedding is no vector');
  const { inputTokens } = reply;
  const tokens = inputTokens + countFrameIds(family.frame);
  return { answers: [vector], inputTokens, characters: input.length, tokens, questions: [], wallMs: timeOf(reply) };
}

export async function runRankingCase(
  family: PairScorer<RerankerManifest>,
  { query, documents }: { readonly query: string; readonly documents: readonly string[] },
): Promise<CaseRun> {
  const pairs = documents.map((second, place) => ({ place, second }));
  const { logits, ...run } = await runPairs(family, query, pairs);
  return { ...run, answers: [logits.map(([logit = Number.NaN]) => relevanceOf(logit))] };
}

async function runSplit(family: SplitEncoder, { state, questions }: DecisionTexts): Promise<CaseRun> {
  // Afresh: a document that an earlier case has left would say nothing of the graphs, and its time nothing of theirs.
  const reply = await family.decide({ state, questions }, true);
  const sizes = questions.map((question) => {
    const { instructions, options } = tokenizeQuestion(question, family.tokenizer);
    const tokens = instructions.length + sum(options.map((ids) => ids.length));
    return { tokens, options: options.length };
  });
  const { probabilities: answers, stateTokens: tokens, inputTokens } = reply;
  return { answers, inputTokens, characters: state.length, tokens, questions: sizes, wallMs: timeOf(reply) };
}

async function runMarkers(family: MarkerEncoder, texts: DecisionTexts): Promise<CaseRun> {
  const reply = await family.decide(texts);
  const rows = family.readRows(texts).map(({ ids }) => ids.length);
  return {
    answers: reply.probabilities,
    inputTokens: reply.inputTokens,
    characters: charactersOf(texts),
    tokens: sum(rows),
    rows,
    questions: [],
    wallMs: timeOf(reply),
  };
}

async function runHypotheses(family: PairScorer<EntailmentManifest>, texts: DecisionTexts): Promise<CaseRun> {
  const pairs = hypothesisPairs(family, texts);
  const { logits, ...run } = await runPairs(family, texts.state, pairs);
  return { ...run, answers: answersOfPairs(family, texts, logits) };
}

function hypothesisPairs({ manifest }: PairScorer<EntailmentManifest>, { questions }: DecisionTexts): PairItem[] {
  return questions.flatMap((question, place) => hypothesesOf(question, manifest).map((second) => ({ place, second })));
}

/** @param logits `[pairs]` */
function answersOfPairs(
  family: PairScorer<EntailmentManifest>,
  texts: DecisionTexts,
  logits: readonly Float32Array[],
): number[][] {
  const pairs = hypothesisPairs(family, texts);
  return texts.questions.map((question, place) => {
    const own = logits.filter((_, pair) => pairs[pair]?.place === place);
    return entailmentProbabilities(question, own, family.manifest);
  });
}

/** A golden case as callers would ask it, side by side with others. */
export interface SharedCase {
  readonly task: SharingTask;
  /** What callers would be told: probabilities, relevances, numbers of a vector. */
  readonly numbersOf: (reply: Extract<TaskReply, { value: unknown }>['value']) => number[];
}

/** @param cases golden ones of the family's kind */
export function sharedCasesOf(family: ModelFamily, cases: readonly unknown[]): SharedCase[] {
  if (family instanceof TextEncoder) return (cases as EmbeddingCase[]).map(sharedEmbedding);
  if (!(family instanceof PairScorer)) return (cases as DecisionCase[]).map(sharedDecision);
  if (isRerankerFamily(family)) return (cases as RankingCase[]).map(sharedRanking);
  return (cases as DecisionCase[]).map((each) => sharedHypotheses(family as PairScorer<EntailmentManifest>, each));
}

const NO_MODEL = { modelId: '' };

function sharedEmbedding({ input }: EmbeddingCase): SharedCase {
  const inputs = [{ place: 0, input }];
  return {
    task: { kind: 'embed', ...NO_MODEL, inputs, longInputs: 'refuse', dimensions: undefined, encoding: 'float' },
    numbersOf: (reply) =>
      'embeddings' in reply ? reply.embeddings.flatMap((vector) => (isVector(vector) ? [...vector] : [])) : [],
  };
}

function isVector(value: unknown): value is Float32Array {
  return value instanceof Float32Array;
}

function sharedDecision({ state, questions }: DecisionCase): SharedCase {
  return {
    task: { kind: 'decide', ...NO_MODEL, state, questions: questions.map(toQuestion) },
    numbersOf: (reply) => ('probabilities' in reply ? reply.probabilities.flat() : []),
  };
}

function sharedRanking({ query, documents }: RankingCase): SharedCase {
  const pairs = documents.map((second, place) => ({ place, second }));
  return {
    task: { kind: 'score-pairs', ...NO_MODEL, first: query, pairs, truncate: false },
    numbersOf: (reply) => ('logits' in reply ? reply.logits.map(([logit = Number.NaN]) => relevanceOf(logit)) : []),
  };
}

function sharedHypotheses(family: PairScorer<EntailmentManifest>, { state, questions }: DecisionCase): SharedCase {
  const texts = { state, questions: questions.map(toQuestion) };
  const pairs = hypothesisPairs(family, texts);
  return {
    task: { kind: 'score-pairs', ...NO_MODEL, first: state, pairs, truncate: false },
    numbersOf: (reply) => ('logits' in reply ? answersOfPairs(family, texts, reply.logits).flat() : []),
  };
}

async function runPairs(
  family: PairScorer,
  first: string,
  pairs: readonly { readonly place: number; readonly second: string }[],
) {
  const task = { first, pairs, truncate: false };
  const reply = await family.scorePairs(task);
  const rows = family.rowLengths(task);
  return {
    logits: reply.logits,
    inputTokens: reply.inputTokens,
    characters: sum(pairs.map(({ second }) => first.length + second.length)),
    tokens: sum(rows),
    rows,
    questions: [],
    wallMs: timeOf(reply),
  };
}

/** Of all rows together. */
function charactersOf({ state, questions }: DecisionTexts): number {
  return sum(questions.map((question) => state.length + textOf(question).length));
}

function textOf(question: Question): string {
  const { instructions } = question;
  switch (question.type) {
    case 'choice':
      return [instructions, ...question.options.flatMap(({ name, description }) => [name, description ?? ''])].join(
        ' ',
      );
    case 'score':
      return [instructions, ...question.levels].join(' ');
    case 'noul':
      return [instructions, question.whenFalse ?? '', question.whenTrue ?? ''].join(' ');
  }
}

function timeOf({ tokenizeMs, inferMs }: Pick<DecideReply, 'tokenizeMs' | 'inferMs'>): number {
  return tokenizeMs + inferMs;
}
