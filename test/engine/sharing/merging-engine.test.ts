// Who shares a run or an answer with whom, over an engine whose runs the test ends.

import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, toAnswer } from '../../../src/domain/answer.ts';
import { AppError } from '../../../src/domain/errors.ts';
import type { Question } from '../../../src/domain/question.ts';
import type { Caller, DecideJob, DecideResult, EmbedJob, EmbedResult } from '../../../src/engine/engine.ts';
import { MergingEngine, type MergingOptions } from '../../../src/engine/sharing/merging-engine.ts';
import { createFakeEngine, type FakeEngine } from '../../application/fake-engine.ts';
import { ManualClock } from '../manual-clock.ts';

const CHOICE: Question = {
  type: 'choice',
  instructions: 'Which?',
  options: ['a', 'b', 'c'].map((name) => ({ name, description: null })),
};
const JOB: DecideJob = { modelId: 'kev', state: 'some text', questions: [CHOICE] };
const EMBED: EmbedJob = {
  modelId: 'text-embed-mini',
  inputs: ['one', 'two'],
  dimensions: undefined,
  encoding: 'float',
};
const OPTIONS: MergingOptions = { merge: true, cacheBytes: 1_000_000, cacheTtlMs: 1000, scope: 'key' };

interface Run {
  readonly caller: Caller;
  readonly end: (error?: Error) => void;
}

let inner: FakeEngine;
let clock: ManualClock;
/** Runs of the engine inside, in the order in which they began. */
let runs: Run[];

beforeEach(() => {
  inner = createFakeEngine();
  clock = new ManualClock();
  runs = [];
  const { decide } = inner;
  inner.decide = (job, caller) => {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    runs.push({ caller, end: (error) => (error === undefined ? resolve(undefined) : reject(error)) });
    return promise.then(() => decide(job, caller));
  };
});

const engineWith = (options: Partial<MergingOptions> = {}) =>
  new MergingEngine(inner, { ...OPTIONS, ...options, nowMs: () => clock.nowMs() });
const callerOf = (keyId: string, more: Partial<Caller> = {}): Caller => ({
  keyId,
  signal: new AbortController().signal,
  ...more,
});
const again = (): DecideJob => structuredClone(JOB);
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function decideOnce(engine: MergingEngine, keyId = 'a'): Promise<DecideResult> {
  const deciding = engine.ticketFor(again(), callerOf(keyId)).run();
  runs.at(-1)?.end();
  return await deciding;
}

describe('identical jobs under way', () => {
  it('run once, and each says what it was', async () => {
    const engine = engineWith();
    const first = engine.ticketFor(again(), callerOf('a')).run();
    clock.advance(5);
    const second = engine.ticketFor(again(), callerOf('a')).run();
    clock.advance(7);
    expect(runs).toHaveLength(1);
    runs[0]?.end();
    const [one, other] = await Promise.all([first, second]);
    expect(other.answers).toEqual(one.answers);
    expect(other.inputTokens).toBe(one.inputTokens);
    expect(one.source).toEqual({ answer: 'run', keptTokens: 0 });
    expect(other.source).toEqual({ answer: 'merged', keptTokens: 0 });
    expect(other.timings).toEqual({ queueMs: 7, tokenizeMs: 0, inferMs: 0 });
    expect(engine.answerCounts).toMatchObject({ miss: 1, merged: 1, hit: 0 });
  });

  it('run apart for other keys, unless answers are for all', async () => {
    const engines = [engineWith(), engineWith({ scope: 'all' })];
    const begun = engines.map((engine) => {
      const before = runs.length;
      const deciding = ['a', 'b'].map((keyId) => engine.ticketFor(again(), callerOf(keyId)).run());
      return { deciding, runs: runs.length - before };
    });
    for (const { end } of runs) end();
    await Promise.all(begun.flatMap(({ deciding }) => deciding));
    expect(begun.map((one) => one.runs)).toEqual([2, 1]);
  });

  it('run apart where merging is off', async () => {
    const engine = engineWith({ merge: false });
    const deciding = [engine.ticketFor(again(), callerOf('a')).run(), engine.ticketFor(again(), callerOf('a')).run()];
    expect(runs).toHaveLength(2);
    for (const { end } of runs) end();
    expect((await Promise.all(deciding)).map(({ source }) => source.answer)).toEqual(['run', 'run']);
  });

  it.each([
    ['overloaded', new AppError('overloaded', 'The queue is full.', { retryAfterMs: 100 })],
    ['too long', new AppError('context_length_exceeded', 'Too many tokens.')],
    ['a fault', new Error('worker lost')],
  ])('fail together (%s), and the next one runs', async (_why, error) => {
    const engine = engineWith();
    const deciding = [engine.ticketFor(again(), callerOf('a')).run(), engine.ticketFor(again(), callerOf('a')).run()];
    runs[0]?.end(error);
    for (const one of deciding) await expect(one).rejects.toBe(error);
    expect((await decideOnce(engine)).source.answer).toBe('run');
    expect(runs).toHaveLength(2);
  });

  it('are not refused for the hurry of the one that began', async () => {
    const engine = engineWith();
    const hurried = engine.ticketFor(again(), callerOf('a', { deadlineMs: 5 })).run();
    const patient = [undefined, 1000].map((deadlineMs) =>
      engine.ticketFor(again(), callerOf('a', { deadlineMs })).run(),
    );
    const refusal = new AppError('overloaded', 'It cannot be answered in time.', { retryAfterMs: 100 });
    runs[0]?.end(refusal);
    await expect(hurried).rejects.toBe(refusal);
    await turn();
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    expect((await Promise.all(patient)).map(({ source }) => source.answer)).toEqual(['run', 'merged']);
  });
});

describe('a caller that leaves', () => {
  const LEFT = new Error('left');

  it('is let go while others stay', async () => {
    const engine = engineWith();
    const leaving = new AbortController();
    const first = engine.ticketFor(again(), callerOf('a', { signal: leaving.signal })).run();
    const second = engine.ticketFor(again(), callerOf('a')).run();
    leaving.abort(LEFT);
    await expect(first).rejects.toBe(LEFT);
    expect(runs[0]?.caller.signal.aborted).toBe(false);
    runs[0]?.end();
    expect((await second).source.answer).toBe('merged');
  });

  it('takes the run with it when it is the last one', async () => {
    const engine = engineWith();
    const leaving = [new AbortController(), new AbortController()];
    const deciding = leaving.map(({ signal }) => engine.ticketFor(again(), callerOf('a', { signal })).run());
    for (const one of leaving) one.abort(LEFT);
    const signal = runs[0]?.caller.signal;
    expect(signal?.reason).toBe(LEFT);
    // As the engine does where it had not begun.
    runs[0]?.end(LEFT);
    for (const one of deciding) await expect(one).rejects.toBe(LEFT);
  });

  it('is given the result when the run had begun: its work is billed', async () => {
    const engine = engineWith();
    const leaving = new AbortController();
    const deciding = engine.ticketFor(again(), callerOf('a', { signal: leaving.signal })).run();
    leaving.abort(LEFT);
    runs[0]?.end();
    expect((await deciding).source.answer).toBe('run');
  });

  it('is not followed by one that comes later', async () => {
    const engine = engineWith();
    const leaving = new AbortController();
    const first = engine.ticketFor(again(), callerOf('a', { signal: leaving.signal })).run();
    leaving.abort(LEFT);
    const second = engine.ticketFor(again(), callerOf('a')).run();
    expect(runs).toHaveLength(2);
    runs[0]?.end(LEFT);
    await expect(first).rejects.toBe(LEFT);
    const third = engine.ticketFor(again(), callerOf('a')).run();
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    expect((await Promise.all([second, third])).map(({ source }) => source.answer)).toEqual(['run', 'merged']);
  });

  it('gets nothing, not even what is kept, when it had left before', async () => {
    const engine = engineWith();
    await decideOnce(engine);
    await expect(engine.ticketFor(again(), callerOf('a', { signal: AbortSignal.abort(LEFT) })).run()).rejects.toBe(
      LEFT,
    );
  });
});

describe('kept answers', () => {
  it('are given without a run, for their time', async () => {
    const engine = engineWith();
    const first = await decideOnce(engine);
    clock.advance(999);
    const kept = await engine.ticketFor(again(), callerOf('a')).run();
    expect(kept).toEqual({
      ...first,
      timings: { queueMs: 0, tokenizeMs: 0, inferMs: 0 },
      source: { answer: 'kept', keptTokens: 0 },
    });
    expect(engine.answerCounts).toMatchObject({ miss: 1, hit: 1 });
    expect(engine.answerCounts.keptBytes).toBeGreaterThan(0);
    clock.advance(1);
    expect((await decideOnce(engine)).source.answer).toBe('run');
  });

  it('are for their key, unless they are for all', async () => {
    for (const scope of ['key', 'all'] as const) {
      const engine = engineWith({ scope });
      await decideOnce(engine, 'a');
      expect((await decideOnce(engine, 'b')).source.answer).toBe(scope === 'key' ? 'run' : 'kept');
    }
  });

  it('are none where the cache is off', async () => {
    const engine = engineWith({ cacheBytes: 0 });
    await decideOnce(engine);
    expect((await decideOnce(engine)).source.answer).toBe('run');
    expect(engine.answerCounts).toMatchObject({ miss: 2, hit: 0, keptBytes: 0 });
  });

  it('know their tokens, so that nothing is counted again', async () => {
    const engine = engineWith();
    const { inputTokens } = await decideOnce(engine);
    inner.countDecisionTokens = () => Promise.reject(new Error('counted'));
    expect(await engine.ticketFor(again(), callerOf('a')).countTokens()).toBe(inputTokens);
    await expect(engine.ticketFor(again(), callerOf('b')).countTokens()).rejects.toThrow('counted');
  });

  it('hold embeddings in both forms', async () => {
    const engine = engineWith();
    for (const encoding of ['float', 'base64'] as const) {
      const [first, kept] = [
        await engine.ticketFor({ ...EMBED, encoding }, callerOf('a')).run(),
        await engine.ticketFor({ ...EMBED, encoding }, callerOf('a')).run(),
      ] as [EmbedResult, EmbedResult];
      expect(kept.source.answer).toBe('kept');
      expect(kept.embeddings).toEqual(first.embeddings);
      expect(await engine.ticketFor({ ...EMBED, encoding }, callerOf('a')).countTokens()).toBe(first.inputTokens);
    }
  });

  it("hold the document's vector, for jobs that want it", async () => {
    const engine = engineWith();
    const vector = Float32Array.of(0.25, -1e-30, 3);
    inner.decide = async (job) => ({ ...(await createFakeEngine().decide(job, callerOf('a'))), vector });
    const ask = (job: DecideJob) => engine.ticketFor(job, callerOf('a')).run();
    await ask({ ...JOB, wantsVectors: true });
    const kept = await ask({ ...JOB, wantsVectors: true });
    expect([kept.source.answer, kept.vector]).toEqual(['kept', vector]);
    expect((await ask(JOB)).source.answer).toBe('run');
  });

  it('are to the bit what was answered first', async () => {
    const weights = fc.array(fc.double({ min: 1e-12, max: 1, noNaN: true }), { minLength: 2, maxLength: 10 });
    const type = fc.constantFrom('choice' as const, 'score' as const, 'noul' as const);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ weights, type }), { minLength: 1, maxLength: 4 }), async (wanted) => {
        const engine = engineWith();
        const questions = wanted.map((one): Question => questionOf(one.type, one.weights.length));
        const answers: Answer[] = wanted.map(({ weights: all }, place) =>
          toAnswer(questions[place] ?? CHOICE, normalised(questions[place]?.type === 'noul' ? all.slice(0, 2) : all)),
        );
        inner.decide = async () => ({
          answers,
          inputTokens: 7,
          timings: { queueMs: 1, tokenizeMs: 1, inferMs: 1 },
          source: { answer: 'run', keptTokens: 0 },
        });
        const job = { ...JOB, questions };
        const first = await engine.ticketFor(job, callerOf('a')).run();
        const kept = await engine.ticketFor(structuredClone(job), callerOf('a')).run();
        expect(kept.source.answer).toBe('kept');
        expect(JSON.stringify(kept.answers)).toBe(JSON.stringify(first.answers));
      }),
    );
  });
});

describe('a refusal by the engine inside', () => {
  const refusal = new AppError('overloaded', 'The queue is full.', { retryAfterMs: 100 });

  it('is not for what is kept or under way', async () => {
    const engine = engineWith();
    const enter = (keyId: string) => engine.ticketFor(again(), callerOf(keyId)).enter();
    inner.findRefusal = () => refusal;
    expect(() => enter('a')).toThrow(refusal);
    inner.findRefusal = () => undefined;
    const deciding = engine.ticketFor(again(), callerOf('a')).run();
    inner.findRefusal = () => refusal;
    expect(() => enter('a')).not.toThrow();
    runs[0]?.end();
    await deciding;
    expect(() => enter('a')).not.toThrow();
    expect(() => enter('b')).toThrow(refusal);
  });

  it('is shared with nobody, and counts as no answer', async () => {
    const engine = engineWith();
    inner.findRefusal = () => refusal;
    await expect(engine.ticketFor(again(), callerOf('a')).run()).rejects.toBe(refusal);
    expect(engine.answerCounts).toMatchObject({ miss: 0, merged: 0, hit: 0 });
    inner.findRefusal = () => undefined;
    expect((await decideOnce(engine)).source.answer).toBe('run');
  });
});

function questionOf(type: Question['type'], count: number): Question {
  const names = Array.from({ length: count }, (_, index) => `option ${index}`);
  if (type === 'noul') return { type, instructions: 'Is it?', whenFalse: null, whenTrue: null };
  if (type === 'score') return { type, instructions: 'How much?', levels: names };
  return { type, instructions: 'Which?', options: names.map((name) => ({ name, description: null })) };
}

function normalised(weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
