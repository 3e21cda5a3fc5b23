// Counting before running: what is counted on this thread and what by a worker, and what goes before it in the queue.

import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import { CountPart, TokenCounting } from '../../../src/engine/cost/token-counting.ts';
import { Embedder } from '../../../src/engine/embedding/embedder.ts';
import type { Caller, DecideJob } from '../../../src/engine/engine.ts';
import { Scheduler } from '../../../src/engine/scheduling/scheduler.ts';
import type { CountTask } from '../../../src/runtime/messages.ts';
import type { SplitEncoderManifest, TextEncoderManifest } from '../../../src/runtime/model-folder/manifest.ts';
import { BERT_FRAMES } from '../bert-frames.ts';
import { ManualClock } from '../manual-clock.ts';
import { ManualPool } from '../manual-pool.ts';
import { ManualTicket } from '../manual-ticket.ts';

const manifest = { id: 'decider' } as SplitEncoderManifest;
const embeddings = { id: 'embedder', dimensions: 4, limits: { input_tokens: 256 }, prompts: {} } as TextEncoderManifest;
const folder = { path: '/', manifest, frames: BERT_FRAMES, isWordPiece: true, digest: 'sha256:1' };
const embeddingFolder = { ...folder, manifest: embeddings };
const caller = { keyId: 'key', signal: new AbortController().signal };
const decision = (state: string) => ({ modelId: 'decider', state, questions: [] });
const embedding = (inputs: readonly (string | readonly number[])[]) => ({
  modelId: 'embedder',
  inputs,
  dimensions: undefined,
  encoding: 'float' as const,
});

async function setUp(count?: (task: CountTask) => number, isNative = false) {
  const [pool, clock] = [new ManualPool(1), new ManualClock()];
  const scheduler = new Scheduler({ pool, clock, limits: { maxJobs: 4, maxCostMs: 10_000, deadlineMs: 1000 } });
  const counting = new TokenCounting(scheduler);
  const counter = count && {
    isNative,
    count: (task: CountTask) => ({ inputTokens: count(task), stateTokens: 0, questionTokens: [] }),
  };
  await counting.open([folder], async () => counter);
  const countDecision = (job: DecideJob, by: Caller) =>
    counting.count([new CountPart({ kind: 'count-decision', ...job }, job.state.length)], by, 'decision');
  return { pool, clock, scheduler, counting, countDecision };
}

describe('counting tokens', () => {
  it('counts a short text at once', async () => {
    const { countDecision, pool } = await setUp(() => 57);
    expect(await countDecision(decision('short'), caller)).toBe(57);
    expect(pool.started).toEqual([]);
  });

  it('counts a document at once where that takes a fraction of a millisecond', async () => {
    const { countDecision, pool } = await setUp(() => 57, true);
    expect(await countDecision(decision('x'.repeat(65_536)), caller)).toBe(57);
    expect(pool.started).toEqual([]);
    void countDecision(decision('x'.repeat(65_537)), caller);
    expect(pool.started).toHaveLength(1);
  });

  it('throws on this thread what a worker would', async () => {
    const { countDecision } = await setUp(() => {
      throw new AppError('context_length_exceeded', 'too long');
    });
    await expect(countDecision(decision('short'), caller)).rejects.toMatchObject({
      code: 'context_length_exceeded',
    });
  });

  it('leaves a long text to a worker, ahead of work that waits', async () => {
    const { countDecision, pool, scheduler } = await setUp(() => 0);
    const submit = (name: string) => new ManualTicket(name, { costs: [10], scheduler }).run();
    void submit('first');
    void submit('second');
    const counted = countDecision(decision('x'.repeat(5000)), caller);
    await pool.finish({ probabilities: [], inputTokens: 0, stateTokens: 2, keptTokens: 0, tokenizeMs: 0, inferMs: 0 });
    expect(pool.started.map(({ task }) => task.kind)).toEqual(['count-decision']);
    await pool.finish({ inputTokens: 1234 });
    expect(await counted).toBe(1234);
    expect(pool.started.map(({ task }) => task.kind)).toEqual(['decide']);
  });

  it('lets nothing wait for a text of megabytes', async () => {
    const { countDecision, pool } = await setUp(() => 0);
    const count = (keyId: string, characters: number) =>
      countDecision(decision('x'.repeat(characters)), { ...caller, keyId });
    const counted = [count('a', 5000), count('a', 1_000_000), count('b', 5000)];
    const running = () => pool.started.map(({ task }) => ('state' in task ? task.state.length : 0));
    const order: number[][] = [];
    for (let inputTokens = 0; inputTokens < 3; inputTokens++) {
      order.push(running());
      await pool.finish({ inputTokens });
    }
    expect(order).toEqual([[5000], [5000], [1_000_000]]);
    expect(await Promise.all(counted)).toEqual([0, 2, 1]);
  });

  it('leaves everything to workers where this thread has no tokenizer', async () => {
    const { countDecision, pool } = await setUp();
    const counted = countDecision(decision('short'), caller);
    await pool.finish({ inputTokens: 2 });
    expect(await counted).toBe(2);
  });

  it('counts a large embedding in parts, and adds them up', async () => {
    const { counting, scheduler, pool } = await setUp();
    const embedder = new Embedder({ folders: [embeddingFolder], scheduler, counting, longInputs: 'refuse' });
    const job = embedding([[1, 2, 3], 'y'.repeat(100_000), 'z'.repeat(100_000)]);
    const counted = embedder.ticketFor(job, caller)?.countTokens();
    const places = () =>
      pool.started.flatMap(({ task }) =>
        task.kind === 'count-embedding' ? [task.inputs.map(({ place }) => place)] : [],
      );
    expect(places()).toEqual([[0, 1]]);
    await pool.finish({ inputTokens: 10 });
    expect(places()).toEqual([[2]]);
    await pool.finish({ inputTokens: 5 });
    expect(await counted).toBe(15);
  });

  it('is refused when the queue is full, and dropped when the caller leaves', async () => {
    const { countDecision, pool } = await setUp();
    const leaver = new AbortController();
    const count = (keyId: string, signal = caller.signal) => countDecision(decision('x'), { keyId, signal });
    const first = count('a');
    const waiting = ['b', 'c', 'd'].map((keyId) => count(keyId));
    const left = count('e', leaver.signal);
    await expect(count('f')).rejects.toMatchObject({ code: 'overloaded' });
    leaver.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    for (let call = 0; call < 4; call++) await pool.finish({ inputTokens: call });
    expect(await Promise.all([first, ...waiting])).toEqual([0, 1, 2, 3]);
  });
});
