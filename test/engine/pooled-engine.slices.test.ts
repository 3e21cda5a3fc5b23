// Decisions in parts between other calls: what runs where and when, over a pool and a clock that the test moves.

import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import type { Caller, DecideJob } from '../../src/engine/engine.ts';
import type { Task } from '../../src/runtime/messages.ts';
import { ManualClock } from './manual-clock.ts';
import { ManualPool } from './manual-pool.ts';
import { engineOver, simulatedJob } from './simulated-engine.ts';

const BYTES_PER_TOKEN = 8;
/** Of whatever a worker does. */
const PART_MS = 20;

async function setUp({ workers = 2, stateCacheBytes = 0, sharedMemoryBytes = 1e9 } = {}) {
  const [pool, clock] = [new ManualPool(workers), new ManualClock()];
  const engine = engineOver({ pool, clock, stateCacheBytes, sharedMemoryBytes });
  pool.finishLoading({ device: 'cpu', models: [], notes: [], warnings: [] });
  await engine.ready;
  const decide = (job: DecideJob, changes: Partial<Caller> = {}) => {
    const result = engine.ticketFor(job, { keyId: 'key', signal: new AbortController().signal, ...changes }).run();
    result.catch(() => undefined);
    return result;
  };
  /** Worker and kind of what runs, by worker. */
  const running = () =>
    pool.started
      .map(({ worker, task }) => `${worker} ${tell(task)}`)
      .sort()
      .join(', ');
  const finish = async (worker: number, keptTokens = 0) => {
    const task = pool.started.find((started) => started.worker === worker)?.task;
    clock.advance(PART_MS);
    if (task !== undefined) await pool.finishOn(worker, replyTo(task, keptTokens));
  };
  const finishUntil = async (promise: Promise<unknown>) => {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    promise.then(end, end);
    while (!isDone && pool.started.length > 0) await finish(pool.started[0]?.worker ?? 0);
    await promise;
  };
  return { engine, pool, clock, decide, running, finish, finishUntil };
}

function tell(task: Task): string {
  return task.kind === 'encode' ? `encode ${task.share}` : task.kind;
}

function replyTo(task: Task, keptTokens: number) {
  const times = { tokenizeMs: 0, inferMs: 0, keptTokens };
  const tokens = (state: string) => state.length / 5;
  if (task.kind === 'encode') {
    const windows = [{ tokens: tokens(task.state) / task.shares, key: '' }];
    return { ...times, windows, inputTokens: tokens(task.state) };
  }
  if (task.kind === 'embed') return { ...times, embeddings: task.inputs.map(() => ''), inputTokens: 1 };
  const state = 'state' in task ? task.state : '';
  const questions = 'questions' in task ? task.questions : [];
  const probabilities = questions.map(() => [0.5, 0.5]);
  const isKept = task.kind === 'decide' && task.isPassing !== true;
  const isWanted = 'wantsVectors' in task && task.wantsVectors === true;
  const vectors = isWanted && {
    vector: Float32Array.of(7),
    views: questions.map(({ instructions }) => Float32Array.of(instructions.length)),
  };
  return { ...times, probabilities, inputTokens: tokens(state) + 1, stateTokens: tokens(state), isKept, ...vectors };
}

const short = simulatedJob(60);
const long = simulatedJob(1000, 2);

describe('a long decision', () => {
  it('has every idle worker, and lets a short call in as soon as one part ends', async () => {
    const { decide, running, finish } = await setUp();
    const done = decide(long);
    expect(running()).toBe('0 encode 0, 1 encode 1');
    void decide(short);
    await finish(1);
    expect(running()).toBe('0 encode 0, 1 decide');
    await finish(1);
    expect(running()).toBe('0 encode 0, 1 encode 2');
    for (const worker of [0, 1, 0, 1, 0, 1]) await finish(worker);
    expect((await done).answers).toHaveLength(2);
  });

  it('has one worker while others wait', async () => {
    const { decide, running, finish, finishUntil } = await setUp();
    const calls = [decide(long), decide(long)];
    await finish(0);
    await finish(1);
    // With less left to do, the first goes on, and the second has the other worker.
    expect(running()).toBe('0 encode 0, 1 encode 2');
    await finish(1);
    expect(running()).toBe('0 encode 0, 1 encode 3');
    await finishUntil(Promise.all(calls));
  });

  it('is not refused or dropped once it has begun, whatever its caller does', async () => {
    const { decide, finishUntil, clock } = await setUp();
    const leaver = new AbortController();
    const done = decide(long, { signal: leaver.signal, deadlineMs: 1000 });
    leaver.abort();
    clock.advance(60_000);
    await finishUntil(done);
    expect((await done).answers).toHaveLength(2);
  });

  it('has its vector told by the parts that answer, and each view in the place of its question', async () => {
    const { decide, pool, finish } = await setUp();
    const questions = long.questions.map((question, at) => ({ ...question, instructions: 'why?'.repeat(at + 1) }));
    const done = decide({ ...long, questions, wantsVectors: true });
    const parts: number[] = [];
    while (pool.started.length > 0) {
      const [last] = pool.started.slice(-1);
      if (last?.task.kind === 'answer') parts.push(last.task.questions.length);
      await finish(last?.worker ?? 0);
    }
    expect(parts).toEqual([1, 1]);
    const { vector, views } = await done;
    expect([vector, views]).toEqual([Float32Array.of(7), [Float32Array.of(4), Float32Array.of(8)]]);
  });

  it('ends with the first failure, and what it used is free when its last part has ended', async () => {
    const { decide, pool, running, finish } = await setUp({ sharedMemoryBytes: 1100 * BYTES_PER_TOKEN });
    const failed = decide(long);
    void decide(long);
    await pool.fail(new AppError('context_length_exceeded', 'too long'));
    await expect(failed).rejects.toMatchObject({ code: 'context_length_exceeded' });
    // The other part of the first still writes into shared memory.
    expect(running()).toBe('1 encode 1');
    await finish(1);
    expect(running()).toBe('0 encode 0, 1 encode 1');
  });
});

describe('shared memory', () => {
  it('keeps a long decision waiting while there is none, and nobody else', async () => {
    const { decide, running, finish, finishUntil } = await setUp({ sharedMemoryBytes: 1100 * BYTES_PER_TOKEN });
    const [first, second] = [decide(long), decide(long)];
    await finish(0);
    void decide(short);
    await finish(1);
    expect(running()).toBe('0 encode 2, 1 decide');
    await finish(1);
    expect(running()).toBe('0 encode 2, 1 encode 3');
    await finishUntil(first);
    expect(running()).toMatch(/encode 0.*encode 1|encode 1.*encode 0/);
    await finishUntil(second);
  });

  it('is left to others when a caller that waited for it goes', async () => {
    const { decide, running, clock, finish } = await setUp({ sharedMemoryBytes: 1100 * BYTES_PER_TOKEN });
    const leaver = new AbortController();
    void decide(long);
    const left = decide(simulatedJob(1050, 2), { signal: leaver.signal });
    void decide(long, { keyId: 'other' });
    clock.advance(2000);
    leaver.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    for (let i = 0; i < 8; i++) await finish(i % 2);
    expect(running()).toContain('encode');
  });
});

describe('a kept document', () => {
  const cached = { stateCacheBytes: 5000 * BYTES_PER_TOKEN };
  const about = simulatedJob(220);
  /** What fits one window is kept from the second time on. Leaves the workers in the order they were in. */
  const setUpSeen = async () => {
    const parts = await setUp(cached);
    await parts.finishUntil(parts.decide(about));
    await parts.finishUntil(parts.decide(simulatedJob(66)));
    return parts;
  };

  it('is asked about where it was read', async () => {
    const { decide, running, finish } = await setUpSeen();
    const first = decide(about);
    await finish(0);
    await first;
    void decide(short);
    expect(running()).toBe('1 decide');
    await finish(1);
    void decide(about);
    expect(running()).toBe('0 decide');
    await finish(0, 220);
  });

  it('is worth waiting for while that takes less than reading it again', async () => {
    const { decide, running, finish, clock, engine } = await setUpSeen();
    const first = decide(about);
    clock.advance(15);
    const second = decide(about);
    expect(running()).toBe('0 decide');
    await finish(0);
    expect(running()).toBe('0 decide');
    await finish(0, 220);
    expect((await second).source).toEqual({ answer: 'run', keptTokens: 220 });
    expect(engine.status().stateCache).toEqual({ stateTokens: 660 + 66, keptTokens: 220 });
    await first;
  });

  it('of one window and one question is kept from the second time on', async () => {
    const { decide, pool, finishUntil } = await setUp(cached);
    const once = simulatedJob(220, 1);
    const passing: unknown[] = [];
    for (let time = 0; time < 3; time++) {
      const decided = decide(once);
      passing.push(pool.started.map(({ task }) => 'isPassing' in task && task.isPassing));
      await finishUntil(decided);
    }
    expect(passing).toEqual([[true], [false], [false]]);
  });

  it('is read again elsewhere when its worker is held for longer', async () => {
    const { decide, running, finish, finishUntil } = await setUpSeen();
    await finishUntil(decide(about));
    void decide(short);
    void decide({ ...short, state: 'other '.repeat(450) });
    await finish(1);
    expect(running()).toBe('0 decide');
    void decide(about);
    expect(running()).toBe('0 decide, 1 decide');
  });

  it('is looked for elsewhere when its worker takes far longer than was expected', async () => {
    const { decide, running, clock } = await setUpSeen();
    void decide(about);
    clock.advance(15);
    void decide(about);
    expect(running()).toBe('0 decide');
    clock.advance(1000);
    expect(running()).toBe('0 decide, 1 decide');
  });

  it('is forgotten with the worker that had it', async () => {
    const { decide, running, finishUntil, pool } = await setUpSeen();
    await finishUntil(decide(about));
    await finishUntil(decide(short));
    expect(running()).toBe('');
    void decide(about);
    expect(running()).toBe('0 decide');
    // Whoever has been idle longest is next: the other worker, where nobody remembers.
    await pool.fail(new AppError('internal_error', 'died'));
    await finishUntil(decide(simulatedJob(61)));
    await finishUntil(decide(simulatedJob(62)));
    const next = decide(simulatedJob(63));
    const expected = running();
    await finishUntil(next);
    await finishUntil(decide(simulatedJob(64)));
    void decide(about);
    expect(running()).toBe(expected);
  });

  it('is encoded where its windows are kept when its answers alone are dear', async () => {
    const { decide, running, finishUntil, pool } = await setUp({ stateCacheBytes: 9000 * BYTES_PER_TOKEN });
    const many = simulatedJob(1000, 40);
    await finishUntil(decide(many));
    const second = decide(many);
    expect(running()).toMatch(/^[01] encode 0$/);
    expect(pool.started[0]?.task).toMatchObject({ kind: 'encode', shares: 1 });
    await finishUntil(second);
    expect((await second).answers).toHaveLength(40);
  });
});

describe('embeddings', () => {
  it('come in parts on all free workers, and a decision waits for no more than one', async () => {
    const { engine, decide, running, finish } = await setUp();
    const inputs = Array.from({ length: 40 }, (_, i) => 'word '.repeat(20 + 3 * i));
    const job = { modelId: 'embedder', inputs, dimensions: undefined, encoding: 'base64' } as const;
    void engine.ticketFor(job, { keyId: 'key', signal: new AbortController().signal }).run();
    expect(running()).toBe('0 embed, 1 embed');
    void decide(short);
    await finish(1);
    expect(running()).toBe('0 embed, 1 decide');
    await finish(1);
    expect(running()).toBe('0 embed, 1 embed');
  });
});
