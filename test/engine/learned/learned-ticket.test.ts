// What a learned model makes of its base's answers, over an engine whose runs the test ends.

import { beforeEach, describe, expect, it } from 'vitest';
import { probabilitiesInOrder } from '../../../src/domain/answer.ts';
import { AppError } from '../../../src/domain/errors.ts';
import type { Question } from '../../../src/domain/question.ts';
import type { Caller, DecideJob, EmbedJob, EmbedResult, JobResult } from '../../../src/engine/engine.ts';
import { LearnedEngine } from '../../../src/engine/learned/learned-engine.ts';
import { MergingEngine } from '../../../src/engine/sharing/merging-engine.ts';
import { answerLearned, findLearned } from '../../../src/learning/answer-learned.ts';
import type { LearnedModel } from '../../../src/learning/learned-model.ts';
import { learnedQuestion, WHERE } from '../../app/learned/learned-draft.ts';
import { createFakeEngine, type FakeEngine, KEV, MINI } from '../../application/fake-engine.ts';

const OTHER: Question = { type: 'noul', instructions: 'Is it late?', whenFalse: null, whenTrue: null };
const VECTOR = Float32Array.of(0.5, -2, 1);
const base = { id: KEV.id, digest: KEV.digest ?? '' };
const embedder = { id: MINI.id, digest: MINI.digest ?? '' };
const SUPPORT: LearnedModel = {
  id: 'support',
  base,
  embedder: undefined,
  dimensions: 3,
  questions: [learnedQuestion(WHERE, 4)],
};
const VIEWS = [Float32Array.of(1, 2), Float32Array.of(3, -1), Float32Array.of(0, 5)];
/** Reads the base's three numbers and the question's view of two. */
const SEEING: LearnedModel = { ...SUPPORT, id: 'seeing', dimensions: 5, questions: [learnedQuestion(WHERE, 4, 5)] };
/** Reads the base's three numbers and four of the embedder. */
const BOTH: LearnedModel = {
  ...SUPPORT,
  id: 'both',
  embedder,
  dimensions: 7,
  questions: [learnedQuestion(WHERE, 4, 7)],
};
const cardOf = ({ id }: LearnedModel) => ({ ...KEV, id });
const ask = (modelId: string, questions: readonly Question[] = [WHERE]): DecideJob => {
  return { modelId, state: 'in the harbour', questions };
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Begun {
  readonly job: DecideJob | EmbedJob;
  readonly caller: Caller;
  readonly end: (error?: unknown) => void;
}

let inner: FakeEngine;
let engine: LearnedEngine;
/** What the engine inside runs, in the order in which it began. */
let runs: Begun[];
let caller: Caller;
let leaver: AbortController;

beforeEach(() => {
  inner = createFakeEngine();
  runs = [];
  leaver = new AbortController();
  caller = { keyId: 'key', signal: leaver.signal };
  const { decide, embed } = createFakeEngine();
  const hold = <Result extends JobResult>(job: Begun['job'], owner: Caller, perform: () => Promise<Result>) => {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    runs.push({ job, caller: owner, end: (error) => (error === undefined ? resolve(undefined) : reject(error)) });
    return promise.then(perform);
  };
  inner.decide = (job, owner) =>
    hold(job, owner, async () => ({ ...(await decide(job, owner)), ...(job.wantsVectors && { vector: VECTOR }) }));
  inner.embed = (job, owner) => hold(job, owner, () => embed(job, owner));
  engine = new LearnedEngine(inner);
  for (const model of [SUPPORT, BOTH]) engine.put(model, cardOf(model));
});

/** As soon as they begin. */
async function endAll<Result>(result: Promise<Result>): Promise<Result> {
  await turn();
  for (const { end } of runs) end();
  return await result;
}

const decideNow = (job: DecideJob) => endAll(engine.ticketFor(job, caller).run());

describe('a learned model', () => {
  it('answers what was learned by its head and the rest as the base does, in order', async () => {
    const plain = await decideNow(ask('kev', [OTHER, WHERE, OTHER]));
    const learned = await decideNow(ask('support', [OTHER, WHERE, OTHER]));
    expect(learned.answeredBy).toEqual(['base', 'head', 'base']);
    expect([learned.answers[0], learned.answers[2]]).toEqual([plain.answers[0], plain.answers[2]]);
    const [before, after] = [plain, learned].map(({ answers }) => answers[1]);
    if (before === undefined || after === undefined) throw new Error('no answers');
    const match = findLearned(SUPPORT.questions, WHERE);
    if (match === undefined) throw new Error('not found');
    expect(probabilitiesInOrder(after)).toEqual(answerLearned(match, probabilitiesInOrder(before), VECTOR));
    expect(probabilitiesInOrder(after)).not.toEqual(probabilitiesInOrder(before));
    expect(learned).not.toHaveProperty('vector');
    expect([learned.inputTokens, learned.timings, learned.source]).toEqual([
      plain.inputTokens,
      plain.timings,
      plain.source,
    ]);
  });

  it('reads the view of the question that it answers', async () => {
    const { decide } = createFakeEngine();
    inner.decide = async (job, owner) => ({ ...(await decide(job, owner)), vector: VECTOR, views: VIEWS });
    engine.put(SEEING, cardOf(SEEING));
    const { answers } = await engine.ticketFor(ask('seeing', [OTHER, WHERE, OTHER]), caller).run();
    const plain = await engine.ticketFor(ask('kev', [WHERE]), caller).run();
    const match = findLearned(SEEING.questions, WHERE);
    const [zeroShot, answer] = [plain.answers[0], answers[1]];
    if (match === undefined || zeroShot === undefined || answer === undefined) throw new Error('not found');
    const read = Float32Array.of(...VECTOR, 3, -1);
    expect(probabilitiesInOrder(answer)).toEqual(answerLearned(match, probabilitiesInOrder(zeroShot), read));
  });

  it('asks of its base the very job that others ask, where nothing was learned', async () => {
    const sharing = new MergingEngine(inner, { merge: true, cacheBytes: 1e6, cacheTtlMs: 1e6, scope: 'key' });
    const shared = new LearnedEngine(sharing);
    shared.put(SUPPORT, cardOf(SUPPORT));
    await endAll(shared.ticketFor(ask('kev', [OTHER]), caller).run());
    const learned = await shared.ticketFor(ask('support', [OTHER]), caller).run();
    expect([learned.source.answer, learned.answeredBy]).toEqual(['kept', ['base']]);
    // With its vector it is another job.
    const first = endAll(shared.ticketFor(ask('support'), caller).run());
    const [run, kept] = [await first, await shared.ticketFor(ask('support'), caller).run()];
    expect([run.source.answer, kept.source.answer]).toEqual(['run', 'kept']);
    expect(kept.answers).toEqual(run.answers);
  });

  it('counts the tokens of its base, an embedder beside it or not', async () => {
    for (const modelId of ['support', 'both']) {
      const counted = await engine.ticketFor(ask(modelId), caller).countTokens();
      expect(counted).toBe(await inner.ticketFor(ask('kev'), caller).countTokens());
      expect((await decideNow(ask(modelId))).inputTokens).toBe(counted);
    }
  });

  it('does nothing before it is counted or enters, and once whatever is called', async () => {
    const ticket = engine.ticketFor(ask('both'), caller);
    await turn();
    expect(runs).toEqual([]);
    ticket.enter();
    ticket.enter();
    const result = endAll(ticket.run());
    expect(await ticket.run()).toBe(await result);
    expect(runs.map(({ job }) => job)).toEqual([
      { ...ask('kev'), wantsVectors: true },
      { modelId: MINI.id, inputs: ['in the harbour'], dimensions: undefined, encoding: 'float', readsWindows: true },
    ]);
  });

  it('fails where a vector has not the length that was learned', async () => {
    engine.put({ ...SUPPORT, dimensions: 4 }, cardOf(SUPPORT));
    await expect(decideNow(ask('support'))).rejects.toThrow('another length');
  });

  it('is of one endpoint', async () => {
    const job: EmbedJob = { modelId: 'support', inputs: ['a'], dimensions: undefined, encoding: 'float' };
    await expect(engine.ticketFor(job, caller).run()).rejects.toMatchObject({ code: 'model_type_mismatch' });
  });
});

describe('a learned model with an embedder', () => {
  it('reads the vectors of both, and its timings and source are those of both', async () => {
    inner.embed = async () =>
      ({
        embeddings: [Float32Array.of(1, 2, 3, 4)],
        inputTokens: 9,
        truncated: [],
        timings: { queueMs: 7, tokenizeMs: 1, inferMs: 3 },
        source: { answer: 'run', keptTokens: 0 },
      }) satisfies EmbedResult;
    const { answers, timings, source } = await decideNow(ask('both'));
    const match = findLearned(BOTH.questions, WHERE);
    if (match === undefined || answers[0] === undefined) throw new Error('not found');
    const plain = await decideNow(ask('kev'));
    const zeroShot = plain.answers.map(probabilitiesInOrder)[0] ?? [];
    const vector = Float32Array.of(...VECTOR, 1, 2, 3, 4);
    expect(probabilitiesInOrder(answers[0])).toEqual(answerLearned(match, zeroShot, vector));
    expect(timings).toEqual({ queueMs: 7, tokenizeMs: 1.5, inferMs: 5 });
    expect(source).toEqual({ answer: 'run', keptTokens: 0 });
  });

  it('takes the base out of the queue when the embedding is refused', async () => {
    const refusal = new AppError('overloaded', 'The queue is full.', { retryAfterMs: 100 });
    inner.findRefusal = (job) => ('inputs' in job ? refusal : undefined);
    const ticket = engine.ticketFor(ask('both'), caller);
    expect(() => ticket.enter()).toThrow(refusal);
    expect(runs.map((run) => run.caller.signal.aborted)).toEqual([true]);
    runs[0]?.end(runs[0].caller.signal.reason);
    await turn();
  });

  it.each([0, 1])('gives up the other when run %i fails', async (which) => {
    const result = engine.ticketFor(ask('both'), caller).run();
    const failure = new AppError('internal_error', 'worker lost');
    runs[which]?.end(failure);
    await expect(result).rejects.toBe(failure);
    expect(runs[1 - which]?.caller.signal.aborted).toBe(true);
    runs[1 - which]?.end(runs[1 - which]?.caller.signal.reason);
    await turn();
  });

  it('leaves with a caller whose decision has not begun, and else runs to its end: it is billed', async () => {
    const left = new Error('left');
    const results = [engine.ticketFor(ask('both'), caller).run(), engine.ticketFor(ask('both'), caller).run()];
    leaver.abort(left);
    expect(runs.map((run) => run.caller.signal.aborted)).toEqual([true, false, true, false]);
    runs[0]?.end(left);
    await expect(results[0]).rejects.toBe(left);
    expect(runs[1]?.caller.signal.aborted).toBe(true);
    runs[1]?.end(left);
    runs[2]?.end();
    runs[3]?.end();
    expect((await results[1])?.answeredBy).toEqual(['head']);
  });

  it('hands on the deadline, and begins nothing for a caller that has left', async () => {
    const hurried = engine.ticketFor(ask('both'), { ...caller, deadlineMs: 40 }).run();
    expect(runs.map((run) => run.caller.deadlineMs)).toEqual([40, 40]);
    await endAll(hurried);
    leaver.abort(new Error('left'));
    await expect(engine.ticketFor(ask('both'), caller).run()).rejects.toThrow('left');
    expect(runs).toHaveLength(2);
  });

  it('says of a document that the embedder finds too long that the state is', async () => {
    const result = engine.ticketFor(ask('both'), caller).run();
    runs[1]?.end(new AppError('context_length_exceeded', 'input[0] has 9 tokens', { param: 'input[0]' }));
    runs[0]?.end();
    await expect(result).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'state',
      message: 'The state is too long for text-embed-mini, which both reads it with, too.',
    });
  });

  it('asks the embedder only where something was learned', async () => {
    await decideNow(ask('both', [OTHER]));
    expect(runs.map(({ job }) => job)).toEqual([ask('kev', [OTHER])]);
  });
});

describe('the models', () => {
  it('come and go, as ready as their bases', () => {
    expect(engine.models.map(({ id }) => id)).toEqual(['kev', 'text-embed-mini', 'reranker', 'support', 'both']);
    const status = createFakeEngine().status();
    const models = [...status.models.filter(({ id }) => id !== 'kev'), { id: 'kev', state: 'loading' as const }];
    inner.status = () => ({ ...status, models });
    expect(engine.status().models.at(-1)).toEqual({ id: 'both', state: 'loading' });
    expect([engine.remove('both'), engine.remove('both')]).toEqual([true, false]);
    expect(engine.models.at(-1)?.id).toBe('support');
    expect(engine.status().models).toHaveLength(4);
  });

  it('are replaced for the tickets that come later, and stay for those that are open', async () => {
    const [first, open] = [await decideNow(ask('support')), engine.ticketFor(ask('support'), caller)];
    engine.put({ ...SUPPORT, questions: [learnedQuestion(WHERE, -4)] }, cardOf(SUPPORT));
    const result = endAll(open.run());
    const replaced = await decideNow(ask('support'));
    expect((await result).answers).toEqual(first.answers);
    expect(replaced.answers).not.toEqual(first.answers);
    engine.remove('support');
    inner.findRefusal = () => new AppError('model_not_found', 'No such model.');
    await expect(engine.ticketFor(ask('support'), caller).run()).rejects.toMatchObject({ code: 'model_not_found' });
  });

  it.each([
    ['no base', { base: { ...base, id: 'nobody' } }, 'another nobody'],
    ['a base of other weights', { base: { ...base, digest: 'sha256:0' } }, 'another kev'],
    ['an embedder of other weights', { embedder: { ...embedder, digest: 'sha256:0' } }, 'another text-embed-mini'],
    ['the id of another model', { id: 'reranker' }, 'of a model already'],
  ])('with %s are refused', (_what, changes, message) => {
    const model = { ...SUPPORT, ...changes };
    expect(() => engine.put(model, cardOf(model))).toThrow(message);
    expect(engine.models).toHaveLength(5);
  });
});
