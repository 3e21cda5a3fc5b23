// Learned models over the shipped `kev` and `text-embed-mini`: an answer by a head has the same bits alone and under load,
// on new and kept documents, whole and in parts, beside other questions, with its options in any order, answered anew or
// kept; and the answers of the base stay what they were.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, probabilitiesInOrder } from '../../src/domain/answer.ts';
import type { Question } from '../../src/domain/question.ts';
import type { Caller, DecideResult, Engine } from '../../src/engine/engine.ts';
import { LearnedEngine } from '../../src/engine/learned/learned-engine.ts';
import { MemoryPlan } from '../../src/engine/loading/memory-plan.ts';
import { PooledEngine } from '../../src/engine/pooled-engine.ts';
import { MergingEngine } from '../../src/engine/sharing/merging-engine.ts';
import type { LearnedModel, LearnedQuestion } from '../../src/learning/learned-model.ts';
import type { Task } from '../../src/runtime/messages.ts';
import type { ModelFolder } from '../../src/runtime/model-folder/manifest.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { WorkerPool } from '../../src/runtime/worker-pool.ts';
import { learnedQuestion } from '../app/learned/learned-draft.ts';
import { RandomSource } from './random-source.ts';

const MIB = 1024 * 1024;
const DIMENSIONS = 384;
const words = (count: number, salt: string): string =>
  Array.from({ length: count }, (_, i) => `${salt}${i % 7} parcel`).join(' ');
const choice = (instructions: string, names: readonly string[]): Question => {
  return { type: 'choice', instructions, options: names.map((name) => ({ name, description: null })) };
};

const TEAM = choice('Which team?', ['billing', 'technical', 'shipping', 'legal']);
const URGENT: Question = { type: 'score', instructions: 'How urgent is it?', levels: ['can wait', 'today', 'now'] };
const ANGRY: Question = { type: 'noul', instructions: 'Is the customer angry?', whenFalse: null, whenTrue: null };
const PLACE = choice(
  'Where is it?',
  Array.from({ length: 30 }, (_, i) => `${words(8, 'at ')} ${i}`),
);
const UNLEARNED = choice('Which colour?', ['red', 'green', 'blue']);
/** One option without rows, one learned one missing. */
const GROWN = choice('Which team?', ['billing', 'technical', 'shipping', 'sales']);
const QUESTIONS = [TEAM, UNLEARNED, URGENT, PLACE, ANGRY, GROWN];
const BY_HEAD = ['head', 'base', 'head', 'head', 'head', 'head'];
const STATES = ['', 'I was charged twice for one parcel.', words(60, 'short '), words(420, 'longer ')];

/** Weights of no meaning, far from all being equal. */
function anyHead(question: Question, parts: number, random: RandomSource): LearnedQuestion {
  const learned = learnedQuestion(question, 1, parts * DIMENSIONS);
  const any = (): number => random.next() - 0.5;
  const { head } = learned;
  return {
    ...learned,
    head: {
      ...head,
      parts: Array.from({ length: parts }, () => ({ dimensions: DIMENSIONS, isUnit: true })),
      centre: head.centre.map(() => any() / 10),
      biases: head.biases.map(any),
      weights: head.weights.map(() => 10 * any()),
    },
  };
}

function modelOver(id: string, base: ModelFolder, embedder?: ModelFolder): LearnedModel {
  const random = new RandomSource(17);
  // The document's vector, the question's view, the embedder's.
  const parts = embedder === undefined ? 2 : 3;
  return {
    id,
    base: { id: base.manifest.id, digest: base.digest },
    embedder: embedder && { id: embedder.manifest.id, digest: embedder.digest },
    dimensions: parts * DIMENSIONS,
    questions: [TEAM, URGENT, PLACE, ANGRY].map((question) => anyHead(question, parts, random)),
  };
}

let folder: string;
let models: readonly ModelFolder[];
/** Nothing kept, one worker. */
let alone: LearnedEngine;
/** Two workers that keep documents. */
let busy: PooledEngine;
/** Kinds of tasks that `busy` ran. */
const begun: Task['kind'][] = [];
const opened: PooledEngine[] = [];

async function openEngine(workers: number, stateCacheBytes: number): Promise<PooledEngine> {
  const common = { device: 'cpu', allowDeviceFallback: false, threads: 1, cacheFolder: folder };
  const pool = new WorkerPool({ models, ...common, stateCacheBytes, workers, onFault: () => undefined });
  const watched = {
    workers: pool.workers,
    loaded: pool.loaded,
    run: (...[task, worker]: Parameters<WorkerPool['run']>) => {
      if (workers > 1) begun.push(task.kind);
      return pool.run(task, worker);
    },
    close: () => pool.close(),
  } as unknown as WorkerPool;
  const engine = new PooledEngine({
    plan: new MemoryPlan({ models: [], cacheBytes: 0, budgetBytes: 0, workers: 1 }),
    folders: models,
    pool: watched,
    threadsPerWorker: 1,
    stateCacheBytes,
    openCounter: async () => undefined,
    queue: { maxJobs: 1000, maxCostMs: 3_600_000, deadlineMs: 3_600_000 },
    probe: { intervalMs: 0, timeoutMs: 600_000 },
    onEvent: () => undefined,
  });
  opened.push(engine);
  await engine.ready;
  return engine;
}

function learnedOver(engine: Engine): LearnedEngine {
  const [kev, mini] = models;
  if (kev === undefined || mini === undefined) throw new Error('two models are shipped');
  const learned = new LearnedEngine(engine);
  for (const model of [modelOver('support', kev), modelOver('support-both', kev, mini)]) {
    const card = engine.models.find(({ id }) => id === 'kev');
    if (card !== undefined) learned.put(model, { ...card, id: model.id });
  }
  return learned;
}

const caller: Caller = { keyId: 'key', signal: new AbortController().signal };

function decide(engine: Engine, modelId: string, state: string, questions: readonly Question[]): Promise<DecideResult> {
  return engine.ticketFor({ modelId, state, questions }, caller).run();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'umpire-learned-'));
  const paths = ['kev', 'text-embed-mini'].map((id) => fileURLToPath(new URL(`../../models/${id}`, import.meta.url)));
  models = await Promise.all(paths.map((path) => readModelFolder(path)));
  alone = learnedOver(await openEngine(1, 0));
  busy = await openEngine(2, 256 * MIB);
}, 120_000);

afterAll(async () => {
  for (const engine of opened) await engine.drain();
  await rm(folder, { recursive: true, force: true });
});

describe.each(['support', 'support-both'])('a learned model (%s)', (modelId) => {
  it('answers with the same bits alone and under load, anew and again, whole and in parts', async () => {
    const expected = await Promise.all(STATES.map((state) => decide(alone, modelId, state, QUESTIONS)));
    const base = await Promise.all(STATES.map((state) => decide(alone, 'kev', state, QUESTIONS)));
    for (const [place, { answers, answeredBy }] of expected.entries()) {
      expect(answeredBy).toEqual(BY_HEAD);
      const changed = answers.map((answer, at) => JSON.stringify(answer) !== JSON.stringify(base[place]?.answers[at]));
      expect(changed).toEqual(BY_HEAD.map((origin) => origin === 'head'));
    }
    const learned = learnedOver(busy);
    for (let round = 0; round < 2; round++) {
      const jobs = [...STATES.entries()].flatMap(([place, state]) => [
        { place, result: decide(learned, modelId, state, QUESTIONS), of: expected },
        { place, result: decide(learned, 'kev', state, QUESTIONS), of: base },
      ]);
      for (const { place, result, of } of jobs) expect((await result).answers).toEqual(of[place]?.answers);
    }
    const longest = STATES.at(-1) ?? '';
    const kept = await decide(learned, modelId, longest, QUESTIONS);
    expect([kept.answers, kept.source.keptTokens > 0]).toEqual([expected.at(-1)?.answers, true]);
    const fresh = `${longest} `;
    begun.length = 0;
    const cut = await decide(learned, modelId, fresh, QUESTIONS);
    expect(begun).toContain('answer');
    expect(cut.answers).toEqual((await decide(alone, modelId, fresh, QUESTIONS)).answers);
  });

  it('answers each question by itself as beside all others, in any order of its options', async () => {
    const [, state = ''] = STATES;
    const all = await decide(alone, modelId, state, QUESTIONS);
    for (const [place, question] of QUESTIONS.entries()) {
      const [single] = (await decide(alone, modelId, state, [question])).answers;
      expect(single).toEqual(all.answers[place]);
      if (question.type !== 'choice') continue;
      const turned = { ...question, options: question.options.toReversed() };
      const [answer] = (await decide(alone, modelId, state, [turned])).answers;
      expect(probabilitiesOf(answer).toReversed()).toEqual(probabilitiesOf(all.answers[place]));
    }
  });

  it('answers with the same bits where answers are kept and shared', async () => {
    const sharing = new MergingEngine(busy, { merge: true, cacheBytes: MIB, cacheTtlMs: 60_000, scope: 'key' });
    const learned = learnedOver(sharing);
    const state = words(20, `${modelId} `);
    const expected = await decide(alone, modelId, state, QUESTIONS);
    const together = [decide(learned, modelId, state, QUESTIONS), decide(learned, modelId, state, QUESTIONS)];
    const results = [...(await Promise.all(together)), await decide(learned, modelId, state, QUESTIONS)];
    expect(results.map(({ source }) => source.answer)).toEqual(['run', 'merged', 'kept']);
    for (const { answers } of results) expect(answers).toEqual(expected.answers);
  });
});

describe('the vector of an embedder', () => {
  it('is of all of a document that it cannot read at once', async () => {
    const [kev, mini] = models;
    if (kev === undefined || mini === undefined) throw new Error('two models are shipped');
    const both = modelOver('embedded', kev, mini);
    const questions = both.questions.map((learned) => {
      const { head } = learned;
      // What the base makes of the document counts for nothing.
      const weights = head.weights.map((weight, at) => (at % (3 * DIMENSIONS) < 2 * DIMENSIONS ? 0 : weight));
      return { ...learned, head: { ...head, offset: 0, weights } };
    });
    const [card] = alone.models;
    if (card === undefined) throw new Error('no model is served');
    alone.put({ ...both, questions }, { ...card, id: both.id });
    const state = words(420, 'longer ');
    const ask = async (text: string) => (await decide(alone, both.id, text, [TEAM])).answers;
    const [first, again, other] = [await ask(state), await ask(state), await ask(`${state} and it was never paid for`)];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });
});

function probabilitiesOf(answer: Answer | undefined): readonly number[] {
  return answer === undefined ? [] : probabilitiesInOrder(answer);
}
