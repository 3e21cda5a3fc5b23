// Models that are loaded when they are first asked for, over a pool and a clock that the test moves: who waits, who is told
// to come back, what is served meanwhile, and what becomes of loads that fail.

import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import type { Caller, DecideJob, EmbedJob } from '../../../src/engine/engine.ts';
import { MemoryPlan } from '../../../src/engine/loading/memory-plan.ts';
import { type EngineEvent, PooledEngine } from '../../../src/engine/pooled-engine.ts';
import type { LoadReply } from '../../../src/runtime/messages.ts';
import { ManualClock } from '../manual-clock.ts';
import { ManualPool, settle } from '../manual-pool.ts';
import { simulatedFolders, simulatedJob } from '../simulated-engine.ts';

const MB = 1_000_000;
const EMBED_REPLY = { embeddings: ['AAAA'], inputTokens: 2, tokenizeMs: 0, inferMs: 1 };
const DECIDE_REPLY = {
  probabilities: [[0.25, 0.75]],
  inputTokens: 7,
  stateTokens: 3,
  keptTokens: 0,
  isKept: false,
  tokenizeMs: 0,
  inferMs: 1,
};
const embedJob: EmbedJob = { modelId: 'embedder', inputs: ['a b'], dimensions: undefined, encoding: 'base64' };
const decideJob: DecideJob = simulatedJob(10);

const callerOf = (given: Partial<Caller> = {}): Caller => ({
  keyId: 'key',
  signal: new AbortController().signal,
  ...given,
});

interface SetUp {
  readonly workers?: number;
  /** Of its graphs. */
  readonly megabytes?: number;
  readonly budgetBytes?: number;
  readonly deadlineMs?: number;
  readonly maxJobs?: number;
  readonly isWatched?: boolean;
}

/** The decider is loaded at the start, the embedder when it is first asked for. */
async function setUp(given: SetUp = {}) {
  const { workers = 2, megabytes = 100, budgetBytes = 2000 * MB, deadlineMs = 8000, maxJobs = 100 } = given;
  const { isWatched = false } = given;
  const [pool, clock, events] = [new ManualPool(workers), new ManualClock(), [] as EngineEvent[]];
  const bytes = { weightBytes: megabytes * MB, loadingBytes: 0, needBytes: megabytes * MB };
  const plan = new MemoryPlan({
    models: [
      { id: 'decider', load: 'start', ...bytes },
      { id: 'embedder', load: 'first-use', ...bytes },
    ],
    cacheBytes: 0,
    budgetBytes,
    workers,
  });
  const engine = new PooledEngine({
    folders: simulatedFolders,
    plan,
    pool,
    clock,
    openCounter: async () => undefined,
    threadsPerWorker: 1,
    stateCacheBytes: 0,
    queue: { maxJobs, maxCostMs: 60_000, deadlineMs },
    probe: { intervalMs: isWatched ? 1000 : 0, timeoutMs: 1000 },
    onEvent: (event) => events.push(event),
  });
  pool.finishLoading({ device: 'cpu', models: [], notes: [], warnings: [] });
  await engine.ready;
  return { engine, pool, clock, events };
}

const loaded = (loadMs = 1000): LoadReply => ({
  report: {
    modelId: 'embedder',
    device: 'cpu',
    precision: 'int8',
    loadMs,
    timedCases: [],
    optimizedGraphs: 'read',
    readsSharedMemory: false,
  },
  warnings: [],
});

const kinds = (pool: ManualPool) => pool.started.map(({ task, worker }) => [task.kind, worker]);
const stateOf = (engine: PooledEngine) => engine.status().models.find(({ id }) => id === 'embedder')?.state;

describe('a model that waits for its first use', () => {
  it('is loaded by its first job, into one worker after the other, and then answers it', async () => {
    const { engine, pool } = await setUp();
    expect(stateOf(engine)).toBe('not_loaded');
    const result = engine.ticketFor(embedJob, callerOf()).run();
    await settle();
    expect(kinds(pool)).toEqual([['load', 0]]);
    expect(stateOf(engine)).toBe('loading');
    await pool.finish(loaded());
    expect(kinds(pool)).toEqual([['load', 1]]);
    await pool.finish(loaded());
    expect(stateOf(engine)).toBe('loaded');
    expect(pool.started.map(({ task }) => task)).toMatchObject([{ kind: 'embed', modelId: 'embedder' }]);
    await pool.finish(EMBED_REPLY);
    expect((await result).inputTokens).toBe(2);
  });

  it('is loaded once, however many ask', async () => {
    const { engine, pool } = await setUp();
    const results = ['a', 'b', 'c'].map((keyId) => engine.ticketFor(embedJob, callerOf({ keyId })).run());
    await settle();
    await pool.finish(loaded());
    await pool.finish(loaded());
    expect(kinds(pool)).toEqual([
      ['embed', 0],
      ['embed', 1],
    ]);
    for (let i = 0; i < 3; i++) await pool.finish(EMBED_REPLY);
    expect(await Promise.all(results)).toHaveLength(3);
  });

  it('leaves the other workers to other models meanwhile', async () => {
    const { engine, pool } = await setUp();
    const waiting = engine.ticketFor(embedJob, callerOf()).run();
    await settle();
    const decision = engine.ticketFor(decideJob, callerOf({ deadlineMs: 500 })).run();
    expect(kinds(pool)).toEqual([
      ['load', 0],
      ['decide', 1],
    ]);
    await pool.finishOn(1, DECIDE_REPLY);
    expect((await decision).answers).toHaveLength(1);
    await pool.finish(loaded());
    await pool.finish(loaded());
    await pool.finish(EMBED_REPLY);
    expect((await waiting).inputTokens).toBe(2);
  });

  it('goes to the worker that is free and lacks it, ahead of what waits', async () => {
    const { engine, pool } = await setUp();
    const decisions = [1, 2, 3].map(() => engine.ticketFor(decideJob, callerOf()).run());
    const waiting = engine.ticketFor(embedJob, callerOf()).run();
    await settle();
    await pool.finishOn(1, DECIDE_REPLY);
    expect(kinds(pool)).toEqual([
      ['decide', 0],
      ['load', 1],
    ]);
    await pool.finishOn(1, loaded());
    // Worker 1 has it: what waits goes there, and the load waits for worker 0.
    expect(kinds(pool)).toEqual([
      ['decide', 0],
      ['decide', 1],
    ]);
    await pool.finishOn(0, DECIDE_REPLY);
    expect(kinds(pool)).toContainEqual(['load', 0]);
    await pool.finishOn(1, DECIDE_REPLY);
    await pool.finishOn(0, loaded());
    await pool.finish(EMBED_REPLY);
    expect(await Promise.all([...decisions, waiting])).toHaveLength(4);
  });

  it('is counted after it is loaded', async () => {
    const { engine, pool } = await setUp({ workers: 1 });
    const ticket = engine.ticketFor(embedJob, callerOf());
    const tokens = ticket.countTokens();
    await settle();
    await pool.finish(loaded());
    await settle();
    expect(kinds(pool)).toEqual([['count-embedding', 0]]);
    await pool.finish({ inputTokens: 2 });
    expect(await tokens).toBe(2);
    const result = ticket.run();
    await settle();
    await pool.finish(EMBED_REPLY);
    expect((await result).inputTokens).toBe(2);
  });

  it('makes no load of a ticket that neither counts nor enters', async () => {
    const { engine, pool } = await setUp();
    engine.ticketFor(embedJob, callerOf());
    await settle();
    expect([kinds(pool), stateOf(engine)]).toEqual([[], 'not_loaded']);
  });
});

describe('a caller of a model that is not loaded', () => {
  it('is told when to come back where the load takes longer than work may wait, and the load goes on', async () => {
    const { engine, pool, clock } = await setUp({ megabytes: 400 });
    const ticket = engine.ticketFor(embedJob, callerOf());
    expect(() => ticket.enter()).toThrow(AppError);
    await settle();
    const refused = engine.ticketFor(embedJob, callerOf()).run();
    // Two workers, 0.3 s and 15 s a gigabyte each.
    await expect(refused).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 12_600 });
    expect(engine.status().refusals.wait).toBe(2);
    clock.advance(6300);
    await pool.finish(loaded(6300));
    await expect(engine.ticketFor(embedJob, callerOf({ deadlineMs: 6000 })).run()).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterMs: 6300,
    });
    expect(engine.status().refusals.late).toBe(1);
    await pool.finish(loaded(6300));
    const result = engine.ticketFor(embedJob, callerOf()).run();
    await settle();
    await pool.finish(EMBED_REPLY);
    expect((await result).inputTokens).toBe(2);
  });

  it('waits no longer than work may wait, though the load takes longer than was expected', async () => {
    const { engine, clock } = await setUp({ megabytes: 100 });
    const result = engine.ticketFor(embedJob, callerOf()).run();
    const outcome = expect(result).rejects.toMatchObject({ code: 'overloaded' });
    await settle();
    clock.advance(8000);
    await outcome;
    expect(stateOf(engine)).toBe('loading');
  });

  it('may leave, and the load goes on for the next one', async () => {
    const { engine, pool } = await setUp();
    const leaver = new AbortController();
    const left = engine.ticketFor(embedJob, callerOf({ signal: leaver.signal })).run();
    const stayed = engine.ticketFor(embedJob, callerOf()).run();
    await settle();
    leaver.abort('left');
    await expect(left).rejects.toBe('left');
    await pool.finish(loaded());
    await pool.finish(loaded());
    expect(kinds(pool)).toEqual([['embed', 0]]);
    await pool.finish(EMBED_REPLY);
    expect((await stayed).inputTokens).toBe(2);
  });

  it('has what is left of its own time once the model is there', async () => {
    const { engine, pool, clock } = await setUp({ workers: 1, megabytes: 100 });
    const result = engine.ticketFor(embedJob, callerOf({ deadlineMs: 2000 })).run();
    const outcome = expect(result).rejects.toMatchObject({ code: 'overloaded' });
    await settle();
    clock.advance(1999);
    await pool.finish(loaded(1999));
    await outcome;
    expect(kinds(pool)).toEqual([]);
  });

  it('is refused where too many wait already', async () => {
    const { engine } = await setUp({ maxJobs: 1 });
    void engine
      .ticketFor(embedJob, callerOf())
      .run()
      .catch(() => undefined);
    const refused = engine.ticketFor(embedJob, callerOf({ keyId: 'other' })).run();
    await expect(refused).rejects.toMatchObject({ code: 'overloaded' });
    expect(engine.status().refusals.jobs).toBe(1);
  });
});

describe('a load that fails', () => {
  it('is told to callers without the reason, to the operator with it, and tried again after a minute', async () => {
    const { engine, pool, clock, events } = await setUp();
    const result = engine.ticketFor(embedJob, callerOf()).run();
    const outcome = expect(result).rejects.toMatchObject({
      code: 'model_unavailable',
      message: 'The model cannot be loaded at the moment.',
      retryAfterMs: 60_000,
    });
    await settle();
    await pool.fail(new AppError('model_unavailable', 'model folder /m/x: golden.json: golden mismatch'));
    await outcome;
    expect(stateOf(engine)).toBe('failed');
    expect(events).toContainEqual({
      level: 'error',
      message: expect.stringContaining('embedder could not be loaded: model folder /m/x: golden.json: golden mismatch'),
      details: { modelId: 'embedder' },
    });
    clock.advance(20_000);
    await settle();
    await expect(engine.ticketFor(embedJob, callerOf()).run()).rejects.toMatchObject({
      code: 'model_unavailable',
      retryAfterMs: 40_000,
    });
    expect(pool.started.filter(({ task }) => task.kind === 'load')).toEqual([]);
    clock.advance(40_000);
    void engine
      .ticketFor(embedJob, callerOf())
      .run()
      .catch(() => undefined);
    await settle();
    expect(stateOf(engine)).toBe('loading');
  });

  it('is a failure too where the worker dies of it, and other models go on', async () => {
    const { engine, pool } = await setUp();
    const result = engine.ticketFor(embedJob, callerOf()).run();
    const outcome = expect(result).rejects.toMatchObject({ code: 'model_unavailable' });
    await settle();
    await pool.fail(new AppError('internal_error', 'The worker that ran this died.'));
    await outcome;
    const decision = engine.ticketFor(decideJob, callerOf()).run();
    await pool.finish(DECIDE_REPLY);
    expect((await decision).inputTokens).toBe(7);
  });

  it('gives its memory back', async () => {
    const { engine, pool } = await setUp({ megabytes: 100 });
    const before = engine.status().memory.takenBytes;
    const result = engine.ticketFor(embedJob, callerOf()).run();
    const outcome = expect(result).rejects.toThrow();
    await settle();
    expect(engine.status().memory.takenBytes).toBe(before + 100 * MB);
    await pool.fail(new AppError('model_unavailable', 'gone'));
    await outcome;
    expect(engine.status().memory.takenBytes).toBe(before);
  });
});

describe('an engine that loads', () => {
  it('is not called unresponsive before the load is late', async () => {
    const { engine, clock } = await setUp({ workers: 1, megabytes: 400, isWatched: true });
    expect(() => engine.ticketFor(embedJob, callerOf({ deadlineMs: 1 })).enter()).toThrow(AppError);
    await settle();
    // 6.3 s are expected; what takes three times as long and the configured second is late.
    clock.advance(19_800);
    expect(engine.status().state).toBe('ready');
    clock.advance(200);
    expect(engine.status().state).toBe('unresponsive');
  });

  it('tells who waits that it stops, and ends when the worker is done', async () => {
    const { engine, pool } = await setUp();
    const result = engine.ticketFor(embedJob, callerOf()).run();
    const outcome = expect(result).rejects.toMatchObject({ code: 'overloaded', message: 'The server is stopping.' });
    await settle();
    const drained = engine.drain();
    expect(pool.closed).toBe(false);
    await pool.finish(loaded());
    await outcome;
    await drained;
    expect(pool.closed).toBe(true);
    expect(kinds(pool)).toEqual([]);
  });
});
