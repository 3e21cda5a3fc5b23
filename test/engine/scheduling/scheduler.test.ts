// The scheduler over a pool and a clock that the test moves: fairness, refusals, deadlines, callers that leave.

import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import { Scheduler } from '../../../src/engine/scheduling/scheduler.ts';
import type { DecideReply } from '../../../src/runtime/messages.ts';
import { ManualClock } from '../manual-clock.ts';
import { ManualPool, settle } from '../manual-pool.ts';
import { ManualTicket, type ManualTicketOptions } from '../manual-ticket.ts';

const reply: DecideReply = {
  probabilities: [[1]],
  inputTokens: 1,
  stateTokens: 1,
  keptTokens: 0,
  isKept: false,
  tokenizeMs: 0,
  inferMs: 0,
};

interface SetUp {
  readonly workers?: number;
  readonly wideWorker?: number;
  readonly deadlineMs?: number;
  readonly maxJobs?: number;
}

function setUp({ workers = 1, wideWorker, deadlineMs = 1000, maxJobs = 10 }: SetUp = {}) {
  const [pool, clock] = [new ManualPool(workers, wideWorker), new ManualClock()];
  const scheduler = new Scheduler({ pool, clock, limits: { maxJobs, maxCostMs: 10_000, deadlineMs } });
  const ticket = (name: string, options: Partial<ManualTicketOptions> = {}) =>
    new ManualTicket(name, { costs: [100], ...options, scheduler });
  const submit = (name: string, options: Partial<ManualTicketOptions> = {}) => ticket(name, options).run();
  const running = () => pool.started.map(({ task }) => (task.kind === 'probe' ? 'probe' : task.modelId));
  return { pool, clock, scheduler, ticket, submit, running };
}

describe('scheduler', () => {
  it('gives a free worker its task at once, and no worker two', async () => {
    const { pool, submit, running, scheduler } = setUp({ workers: 2 });
    const calls = ['a', 'b', 'c'].map((name) => submit(name));
    expect(running()).toEqual(['a', 'b']);
    expect([scheduler.busyWorkers, scheduler.queuedJobs, scheduler.queuedCostMs]).toEqual([2, 1, 100]);
    await pool.finish(reply);
    expect(running()).toEqual(['b', 'c']);
    await pool.finish(reply);
    await pool.finish(reply);
    await Promise.all(calls);
  });

  it('says how long a ticket waited and ran', async () => {
    const { pool, clock, submit, ticket } = setUp();
    void submit('a');
    const second = ticket('b');
    const running = second.run();
    clock.advance(70);
    await pool.finish(reply);
    clock.advance(30);
    await pool.finish(reply);
    expect(await running).toMatchObject([{ reply, wallMs: 30, worker: 0 }]);
    expect(second.queueMs).toBe(70);
  });

  it('drops a ticket whose caller left while it waited', async () => {
    const { pool, clock, submit, running, scheduler } = setUp();
    const leaver = new AbortController();
    const first = submit('a');
    const left = submit('b', { signal: leaver.signal });
    leaver.abort(new Error('client left'));
    await expect(left).rejects.toThrow('client left');
    expect(scheduler.queuedJobs).toBe(0);
    await pool.finish(reply);
    expect(running()).toEqual([]);
    await first;
    expect(clock.timerCount).toBe(0);
  });

  it('runs a ticket to its end when the caller leaves after dispatch', async () => {
    const { pool, submit } = setUp();
    const leaver = new AbortController();
    const call = submit('a', { signal: leaver.signal, costs: [10, 10] });
    leaver.abort(new Error('client left'));
    await pool.finish(reply);
    await pool.finish(reply);
    for (const part of await call) expect(part.reply).toBe(reply);
  });

  it('refuses at once a caller that has already left', async () => {
    const { submit, running } = setUp();
    await expect(submit('a', { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    expect(running()).toEqual([]);
  });

  it('refuses a ticket that could not begin in time, with the time it would have waited', async () => {
    const { submit } = setUp({ deadlineMs: 299 });
    for (const keyId of ['a', 'b', 'c']) void submit('x', { keyId });
    await expect(submit('late', { keyId: 'a', costs: [1000] })).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterMs: 353,
    });
  });

  it('refuses a waiting ticket when its deadline passes', async () => {
    const { clock, submit, scheduler } = setUp({ deadlineMs: 300 });
    void submit('a');
    const waiting = submit('b');
    clock.advance(301);
    await expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
    expect(scheduler.queuedJobs).toBe(0);
  });

  it('refuses when the queue is full', async () => {
    const { submit } = setUp({ maxJobs: 2 });
    for (const keyId of ['a', 'b', 'c']) void submit('x', { keyId, costs: [1] });
    await expect(submit('y', { keyId: 'd', costs: [1] })).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('passes a failure on, drops what waits of that ticket, and goes on with the next', async () => {
    const { pool, submit, running } = setUp();
    const broken = submit('broken', { costs: [10, 10, 10] });
    const next = submit('next');
    const refused = expect(broken).rejects.toMatchObject({ code: 'context_length_exceeded' });
    await pool.fail(new AppError('context_length_exceeded', 'too long'));
    await refused;
    expect(running()).toEqual(['next']);
    await pool.finish(reply);
    await next;
  });

  it('is idle only when nothing waits and nothing runs', async () => {
    const { pool, submit, scheduler } = setUp();
    await scheduler.idle();
    const calls = [submit('a'), submit('b')];
    let idle = false;
    const waiting = scheduler.idle().then(() => {
      idle = true;
    });
    await pool.finish(reply);
    expect(idle).toBe(false);
    await pool.finish(reply);
    await Promise.all([waiting, ...calls]);
    expect(idle).toBe(true);
  });

  it('opens the parts that come later when those before are done', async () => {
    const { pool, submit, running, scheduler } = setUp({ workers: 2 });
    const call = submit('a', { costs: [10, 10], laterCosts: [30] });
    expect(running()).toEqual(['a', 'a']);
    await pool.finish(reply);
    expect([running(), scheduler.queuedCostMs, scheduler.queuedJobs]).toEqual([['a'], 30, 0]);
    await pool.finish(reply);
    expect([running(), scheduler.queuedCostMs]).toEqual([['a'], 0]);
    await pool.finish(reply);
    expect(await call).toHaveLength(3);
  });

  it('refuses what comes once it is closed, and ends what was let in', async () => {
    const { pool, submit, scheduler } = setUp();
    const calls = [submit('a'), submit('b')];
    const closed = scheduler.close();
    await expect(submit('c')).rejects.toMatchObject({ code: 'overloaded' });
    await pool.finish(reply);
    await pool.finish(reply);
    await Promise.all([closed, ...calls]);
  });

  it('is idle when the last waiting ticket is dropped', async () => {
    const { pool, submit, scheduler } = setUp();
    const leaver = new AbortController();
    const first = submit('a');
    const left = submit('b', { signal: leaver.signal }).catch(() => 'left');
    const idle = scheduler.idle();
    leaver.abort();
    await pool.finish(reply);
    expect(await left).toBe('left');
    await Promise.all([idle, first]);
  });

  it('probes only a free worker, and knows when a run is late', async () => {
    const { pool, clock, scheduler, submit, running } = setUp();
    const probe = scheduler.probe(50);
    expect(running()).toEqual(['probe']);
    await pool.finish({});
    expect(await probe).toBe(true);
    const call = submit('a', { costs: [100] });
    expect(await scheduler.probe(50)).toBe(false);
    clock.advance(301);
    expect(scheduler.lateMs()).toBe(1);
    await pool.finish(reply);
    await call;
    expect(scheduler.lateMs()).toBe(0);
    await settle();
  });
});

describe('a ticket that is alone', () => {
  const placesOf = (pool: ManualPool) => pool.started.map(({ worker, isWide }) => (isWide ? `${worker} wide` : worker));

  it('has the cores of all workers, on the worker that can', () => {
    const { pool, submit } = setUp({ workers: 3, wideWorker: 1 });
    void submit('a');
    expect(placesOf(pool)).toEqual(['1 wide']);
  });

  it('is one again only some time after it had company', async () => {
    const { pool, clock, submit } = setUp({ workers: 3, wideWorker: 0 });
    const calls = ['a', 'b'].map((name) => submit(name));
    expect(placesOf(pool)).toEqual(['0 wide', 1]);
    for (let i = 0; i < 2; i++) await pool.finish(reply);
    clock.advance(49);
    calls.push(submit('c'));
    expect(placesOf(pool)).toEqual([2]);
    await pool.finish(reply);
    clock.advance(1);
    calls.push(submit('d'));
    expect(placesOf(pool)).toEqual(['0 wide']);
    await pool.finish(reply);
    await Promise.all(calls);
  });

  it('is none where several of its parts begin together', async () => {
    const { pool, submit } = setUp({ workers: 2, wideWorker: 0 });
    const call = submit('a', { costs: [100, 100] });
    expect(placesOf(pool)).toEqual([0, 1]);
    for (let i = 0; i < 2; i++) await pool.finish(reply);
    await call;
  });

  it('runs as others do where no worker can', () => {
    const { pool, submit } = setUp({ workers: 2 });
    void submit('a');
    expect(placesOf(pool)).toEqual([0]);
  });

  it('says nothing of what one worker takes', async () => {
    const { pool, clock, submit, scheduler } = setUp({ workers: 2, wideWorker: 0 });
    const call = submit('a');
    clock.advance(10);
    await pool.finish(reply);
    expect(await call).toMatchObject([{ reply, wallMs: undefined, worker: 0 }]);
    void submit('b');
    void submit('c');
    // As quickly as was estimated, not ten times as quickly.
    expect(scheduler.expectedDrainMs).toBe(100);
  });

  it('is said to be quicker than parts on every worker once that was seen, and while nobody else is there', async () => {
    const { pool, clock, submit, scheduler } = setUp({ workers: 2, wideWorker: 0 });
    expect(scheduler.wouldBeWide).toBe(false);
    const first = submit('a');
    clock.advance(60);
    await pool.finish(reply);
    await first;
    expect(scheduler.wouldBeWide).toBe(true);
    const second = submit('b');
    expect(scheduler.wouldBeWide).toBe(false);
    await pool.finish(reply);
    await second;
  });

  it('goes to one worker where that turned out to be quicker', async () => {
    const { pool, clock, submit } = setUp({ workers: 2, wideWorker: 0 });
    const call = submit('a');
    clock.advance(400);
    await pool.finish(reply);
    await call;
    void submit('b');
    expect(placesOf(pool)).toEqual([0]);
  });
});
