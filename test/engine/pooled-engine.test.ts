// The engine over a pool and a clock that the test moves: states, refusals while loading and stopping, large embedding
// calls in parts, hung inference.

import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import { MemoryPlan } from '../../src/engine/loading/memory-plan.ts';
import type { EngineEvent } from '../../src/engine/pooled-engine.ts';
import { PooledEngine } from '../../src/engine/pooled-engine.ts';
import type { AnswerTask, DecideTask, EmbedTask, EncodeTask, LongInputs } from '../../src/runtime/messages.ts';
import type { Manifest, ModelFolder } from '../../src/runtime/model-folder/manifest.ts';
import { StartError } from '../../src/runtime/start-error.ts';
import type { TokenCounter } from '../../src/runtime/token-counter.ts';
import { BERT_FRAMES } from './bert-frames.ts';
import { COMMON_FIELDS } from './manifest-fields.ts';
import { ManualClock } from './manual-clock.ts';
import { ManualPool, settle } from './manual-pool.ts';

const decider: Manifest = {
  ...COMMON_FIELDS,
  id: 'decider',
  type: 'decision',
  family: 'split-encoder',
  limits: { state_tokens: 8192, question_tokens: 32_768 },
  shape: { layers: 1, heads: 1, head_size: 1 },
  windows: { tokens: 256, max_index: 63 },
  branches: { max_tokens: 512, max_scores: 1000 },
  temperatures: { choice: {}, noul: {}, score: {} },
};
const embedder: Manifest = {
  ...COMMON_FIELDS,
  id: 'embedder',
  type: 'embedding',
  family: 'text-encoder',
  limits: { input_tokens: 256 },
  dimensions: 4,
  graph_io: { inputs: { ids: 'token_ids', mask: 'attention_mask' }, output: 'embeddings' },
  pooling: 'graph',
  normalized: true,
  prompts: {},
  include_prompt: true,
};
const folders: ModelFolder[] = [decider, embedder].map((manifest) => ({
  path: '/',
  manifest,
  frames: BERT_FRAMES,
  isWordPiece: true,
  digest: 'sha256:1',
}));
const caller = { keyId: 'key', signal: new AbortController().signal };
const ask = (instructions: string): Question => ({ type: 'noul', instructions, whenFalse: null, whenTrue: null });
/** What every reply to a decision says besides. */
const counted = { stateTokens: 3, keptTokens: 0 };
const decideJob = { modelId: 'decider', state: 's', questions: [ask('i')] };

interface SetUp {
  readonly workers?: number;
  readonly longInputs?: LongInputs;
  readonly counter?: TokenCounter;
}

function setUp({ workers = 1, longInputs = 'refuse', counter }: SetUp = {}) {
  const [pool, clock, events] = [new ManualPool(workers), new ManualClock(), [] as EngineEvent[]];
  const engine = new PooledEngine({
    plan: new MemoryPlan({ models: [], cacheBytes: 0, budgetBytes: 0, workers: 1 }),
    folders,
    openCounter: async () => counter,
    pool,
    clock,
    threadsPerWorker: 1,
    stateCacheBytes: 0,
    longInputs,
    queue: { maxJobs: 100, maxCostMs: 60_000, deadlineMs: 5000 },
    probe: { intervalMs: 1000, timeoutMs: 3000 },
    onEvent: (event) => events.push(event),
  });
  return { engine, pool, clock, events };
}

async function ready(options: Parameters<typeof setUp>[0] = {}) {
  const parts = setUp(options);
  parts.pool.finishLoading({ device: 'cpu', models: [], notes: [], warnings: ['a warning'] });
  await parts.engine.ready;
  return parts;
}

describe('engine', () => {
  it('knows its models before they are loaded, and refuses jobs until they are', async () => {
    const { engine } = setUp();
    expect(engine.models.map(({ id, type, limits }) => [id, type, limits])).toEqual([
      ['decider', 'decision', { state_tokens: 8192, question_tokens: 32_768 }],
      ['embedder', 'embedding', { input_tokens: 254 }],
    ]);
    expect(engine.status()).toMatchObject({ state: 'loading', workers: 1, threadsPerWorker: 1 });
    await expect(engine.ticketFor(decideJob, caller).run()).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterMs: 1000,
    });
  });

  it('tells what the workers had to say', async () => {
    const { engine, events } = await ready();
    expect(engine.status()).toMatchObject({ state: 'ready', device: 'cpu' });
    expect(events).toEqual([{ level: 'warn', message: 'a warning' }]);
  });

  it('fails to be ready, and ends its workers, when a model does not load', async () => {
    const { engine, pool } = setUp();
    pool.failLoading(new StartError('golden mismatch'));
    await expect(engine.ready).rejects.toThrow('golden mismatch');
    expect(pool.closed).toBe(true);
  });

  it('takes other limits for its queue while it serves; who waits keeps the place', async () => {
    const { engine, pool } = await ready();
    const limits = { maxJobs: 1, maxCostMs: 60_000, deadlineMs: 5000 };
    const reply = { ...counted, probabilities: [[0.25, 0.75]], inputTokens: 7, tokenizeMs: 1, inferMs: 2 };
    const run = (keyId: string) => engine.ticketFor(decideJob, { ...caller, keyId }).run();
    const [running, waiting, second] = [run('a'), run('b'), run('c')];
    engine.limitQueue(limits);
    await expect(run('d')).rejects.toMatchObject({ code: 'overloaded' });
    expect(engine.status()).toMatchObject({ queuedJobs: 2, refusals: { jobs: 1 } });
    engine.limitQueue({ ...limits, maxJobs: 10 });
    const later = run('d');
    for (const _part of [running, waiting, second, later]) await pool.finish(reply);
    expect((await Promise.all([running, waiting, second, later])).map(({ inputTokens }) => inputTokens)).toEqual([
      7, 7, 7, 7,
    ]);
  });

  it('turns probabilities into answers', async () => {
    const { engine, pool } = await ready();
    const result = engine.ticketFor(decideJob, caller).run();
    await pool.finish({ ...counted, probabilities: [[0.25, 0.75]], inputTokens: 7, tokenizeMs: 1, inferMs: 2 });
    expect(await result).toEqual({
      answers: [{ type: 'noul', noul: 0.75 }],
      inputTokens: 7,
      timings: { queueMs: 0, tokenizeMs: 1, inferMs: 2 },
      source: { answer: 'run', keptTokens: 0 },
    });
  });

  it('tokenises a decision once for its count, its cost and its admission', async () => {
    let times = 0;
    const count = () => {
      times += 1;
      return { inputTokens: 7, stateTokens: 3, questionTokens: [4] };
    };
    const { engine, pool } = await ready({ counter: { isNative: true, count } });
    const ticket = engine.ticketFor(decideJob, caller);
    expect(times).toBe(0);
    expect(await ticket.countTokens()).toBe(7);
    ticket.enter();
    ticket.enter();
    expect(pool.started).toHaveLength(1);
    const result = ticket.run();
    await pool.finish({ ...counted, probabilities: [[0.25, 0.75]], inputTokens: 7, tokenizeMs: 1, inferMs: 2 });
    expect((await result).inputTokens).toBe(7);
    expect(times).toBe(1);
  });

  it('counts an embedding that may be too large before any of it is run, and refuses it as one ticket', async () => {
    const { engine, pool } = await ready({ longInputs: 'windows' });
    const inputs = Array.from({ length: 2 }, () => 'x'.repeat(300_000));
    const job = { modelId: 'embedder', inputs, dimensions: undefined, encoding: 'float' } as const;
    const results = [engine.ticketFor(job, caller).run(), engine.ticketFor(job, { ...caller, keyId: 'other' }).run()];
    const refused = Promise.allSettled(results);
    const kinds: string[] = [];
    while (pool.started.length > 0) {
      kinds.push(pool.started[0]?.task.kind ?? '');
      await pool.finish({ inputTokens: 300_000 });
    }
    expect(kinds).toEqual(new Array(4).fill('count-embedding'));
    for (const outcome of await refused) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'context_length_exceeded' } });
    }
    expect(engine.status()).toMatchObject({ queuedJobs: 0, queuedCostMs: 0, busyWorkers: 0 });
  });

  it('cuts a large decision into parts, hands them to every worker and puts the answers back in order', async () => {
    const { engine, pool } = await ready({ workers: 2 });
    const questions = ['first', 'the second one', 'third'].map(ask);
    const result = engine.ticketFor({ modelId: 'decider', state: 'word '.repeat(1500), questions }, caller).run();
    const drained = engine.drain();
    const memories = new Set<SharedArrayBuffer>();
    const seen: (string | number)[][] = [];
    const counts = { inputTokens: 17, keptTokens: 0, tokenizeMs: 1, inferMs: 5 };
    while (pool.started[0]?.task.kind === 'encode') {
      expect(pool.closed).toBe(false);
      const task = pool.started[0].task as EncodeTask;
      seen.push([task.share, task.shares, task.questions.length, pool.started[0].worker]);
      memories.add(task.memory);
      await pool.finish({ windows: [{ tokens: 256, key: `${task.share}` }], ...counts });
    }
    // Each window is a part; one of them counts the questions for all.
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6].map((part) => [part, 7, part === 0 ? 3 : 0, part % 2]));
    const numbers: Readonly<Record<string, number>> = { first: 0.1, 'the second one': 0.2, third: 0.3 };
    expect(pool.started).toHaveLength(2);
    while (pool.started.length > 0) {
      const task = pool.started[0]?.task as AnswerTask;
      expect(task.document.windows.map(({ key }) => key)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
      expect([...memories]).toEqual([task.document.memory]);
      const probabilities = task.questions.map(({ instructions }) => [0, numbers[instructions] ?? 0]);
      await pool.finish({ probabilities, tokenizeMs: 1, inferMs: 2 });
    }
    expect(await result).toMatchObject({
      answers: [0.1, 0.2, 0.3].map((noul) => ({ type: 'noul', noul })),
      inputTokens: 17,
      source: { answer: 'run', keptTokens: 0 },
    });
    await drained;
    expect(pool.closed).toBe(true);
  });

  it('splits a large embedding call and puts its vectors back in order', async () => {
    const { engine, pool } = await ready({ workers: 2 });
    const inputs = Array.from({ length: 50 }, (_, i) => `${i} `.repeat(300 + (i % 7) * 100));
    const result = engine
      .ticketFor({ modelId: 'embedder', inputs, dimensions: undefined, encoding: 'base64' }, caller)
      .run();
    let parts = 0;
    while (pool.started.length > 0) {
      parts += 1;
      const task = pool.started[0]?.task as EmbedTask;
      const embeddings = task.inputs.map(({ place }) => `vector ${place}`);
      await pool.finish({ embeddings, inputTokens: task.inputs.length, tokenizeMs: 1, inferMs: 1 });
    }
    const { embeddings, inputTokens } = await result;
    expect(parts).toBeGreaterThan(5);
    expect(embeddings).toEqual(inputs.map((_, place) => `vector ${place}`));
    expect(inputTokens).toBe(50);
  });

  it('reads a long input in shares, so that other work comes between, and joins their windows in order', async () => {
    const { engine, pool } = await ready({ longInputs: 'windows' });
    const inputs = ['short', 'word '.repeat(3000)];
    const job = { modelId: 'embedder', inputs, dimensions: undefined, encoding: 'float' } as const;
    const result = engine.ticketFor(job, caller).run();
    const decision = engine.ticketFor(decideJob, { ...caller, keyId: 'other' }).run();
    const kinds: string[] = [];
    let shares = 0;
    while (pool.started.length > 0) {
      const task = pool.started[0]?.task as EmbedTask | DecideTask;
      kinds.push(task.kind);
      if (task.kind === 'decide') {
        await pool.finish({
          probabilities: [[0.5, 0.5]],
          inputTokens: 3,
          ...counted,
          isKept: false,
          tokenizeMs: 0,
          inferMs: 1,
        });
        continue;
      }
      // The vector of a window says which share it is of: the first has one axis, all others the other.
      const embeddings = task.inputs.map(({ share }) => {
        if (share === undefined) return Float32Array.of(1, 0, 0, 0);
        shares = share.count;
        return {
          vectors: [Float32Array.of(share.index === 0 ? 1 : 0, share.index === 0 ? 0 : 1, 0, 0)],
          tokens: [100],
        };
      });
      await pool.finish({ embeddings, inputTokens: 100 * task.inputs.length, tokenizeMs: 0, inferMs: 1 });
    }
    await decision;
    expect(shares).toBeGreaterThan(5);
    expect(kinds.indexOf('decide')).toBeLessThan(kinds.length - shares / 2);
    const { embeddings, inputTokens } = await result;
    const norm = Math.hypot(1, shares - 1);
    expect(embeddings[0]).toEqual(Float32Array.of(1, 0, 0, 0));
    expect(embeddings[1]).toEqual(Float32Array.of(1 / norm, (shares - 1) / norm, 0, 0));
    expect(inputTokens).toBe(100 * (shares + 1));
  });

  it('refuses more dimensions than the model has', async () => {
    const { engine } = await ready();
    const job = { modelId: 'embedder', inputs: ['x'], dimensions: 5, encoding: 'float' } as const;
    await expect(engine.ticketFor(job, caller).run()).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'dimensions',
    });
  });

  it('finishes what it accepted before it ends its workers', async () => {
    const { engine, pool } = await ready();
    const calls = [engine.ticketFor(decideJob, caller).run(), engine.ticketFor(decideJob, caller).run()];
    const drained = engine.drain();
    expect(engine.status().state).toBe('draining');
    await expect(engine.ticketFor(decideJob, caller).run()).rejects.toMatchObject({ code: 'overloaded' });
    const reply = { ...counted, probabilities: [[0.5, 0.5]], inputTokens: 1, tokenizeMs: 0, inferMs: 0 };
    await pool.finish(reply);
    expect(pool.closed).toBe(false);
    await pool.finish(reply);
    await Promise.all([drained, ...calls]);
    expect(pool.closed).toBe(true);
  });

  it('is unresponsive while a probe hangs, and recovers', async () => {
    const { engine, pool, clock, events } = await ready();
    clock.advance(1000);
    expect(pool.started).toHaveLength(1);
    clock.advance(4000);
    expect(engine.status().state).toBe('unresponsive');
    expect(pool.started).toHaveLength(1);
    await pool.finish({});
    expect(engine.status().state).toBe('ready');
    expect(events.map(({ level }) => level)).toEqual(['warn', 'error', 'info']);
  });

  it('is unresponsive while a probe fails', async () => {
    const { engine, pool, clock } = await ready();
    clock.advance(1000);
    await pool.fail(new Error('broken'));
    expect(engine.status().state).toBe('unresponsive');
    clock.advance(1000);
    await pool.finish({});
    expect(engine.status().state).toBe('ready');
  });

  it('is unresponsive while every worker hangs in a task', async () => {
    const { engine, pool, clock } = await ready();
    const call = engine.ticketFor(decideJob, caller).run();
    clock.advance(60_000);
    expect(engine.status().state).toBe('unresponsive');
    await pool.finish({ ...counted, probabilities: [[0.5, 0.5]], inputTokens: 1, tokenizeMs: 0, inferMs: 0 });
    await call;
    await settle();
    expect(engine.status().state).toBe('ready');
  });
});
