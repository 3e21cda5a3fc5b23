// The dispatcher over a pool and a clock that the test moves: fairness, refusals, deadlines, callers that leave.

import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import { Dispatcher } from '../../../src/engine/scheduling/dispatcher.ts';
import type { DecideReply, DecideTask } from '../../../src/runtime/messages.ts';
import { ManualClock } from '../manual-clock.ts';
import { ManualPool, settle } from '../manual-pool.ts';

const reply: DecideReply = {
  probabilities: [[1]],
  inputTokens: 1,
  stateTokens: 1,
  keptTokens: 0,
  isKept: false,
  tokenizeMs: 0,
  inferMs: 0,
};

function setUp({ workers = 1, deadlineMs = 1000, maxJobs = 10 } = {}) {
  const [pool, clock] = [new ManualPool(workers), new ManualClock()];
  const dispatcher = new Dispatcher({ pool, clock, limits: { maxJobs, maxCostMs: 10_000, deadlineMs } });
  const submit = (name: string, { keyId = 'key', signal = new AbortController().signal, costs = [100] } = {}) => {
    const task: DecideTask = { kind: 'decide', modelId: name, state: '', questions: [] };
    const parts = costs.map((costMs) => ({ task: () => task, costMs }));
    return dispatcher.submit(parts, { keyId, signal, queueClass: 'decision' });
  };
  const running = () => pool.started.map(({ task }) => (task.kind === 'probe' ? 'probe' : task.modelId));
  return { pool, clock, dispatcher, submit, running };
}

describe('dispatcher', () => {
  it('gives a free worker its task at once, and no worker two', async () => {
    const { pool, submit, running, dispatcher } = setUp({ workers: 2 });
    const calls = ['a', 'b', 'c'].map((name) => submit(name));
    expect(running()).toEqual(['a', 'b']);
    expect([dispatcher.busyWorkers, dispatcher.queuedJobs, dispatcher.queuedCostMs]).toEqual([2, 1, 100]);
    await pool.finish(reply);
    expect(running()).toEqual(['b', 'c']);
    await pool.finish(reply);
    await pool.finish(reply);
    await Promise.all(calls);
  });

  it('says how long a call waited and ran', async () => {
    const { pool, clock, submit } = setUp();
    void submit('a');
    const second = submit('b');
    clock.advance(70);
    await pool.finish(reply);
    clock.advance(30);
    await pool.finish(reply);
    expect(await second).toEqual({ queueMs: 70, first: [{ reply, wallMs: 30, worker: 0 }], later: [], last: [] });
  });

  it('drops a call whose caller left while it waited', async () => {
    const { pool, clock, submit, running, dispatcher } = setUp();
    const leaver = new AbortController();
    const first = submit('a');
    const left = submit('b', { signal: leaver.signal });
    leaver.abort(new Error('client left'));
    await expect(left).rejects.toThrow('client left');
    expect(dispatcher.queuedJobs).toBe(0);
    await pool.finish(reply);
    expect(running()).toEqual([]);
    await first;
    expect(clock.timerCount).toBe(0);
  });

  it('runs a call to its end when the caller leaves after dispatch', async () => {
    const { pool, submit } = setUp();
    const leaver = new AbortController();
    const call = submit('a', { signal: leaver.signal, costs: [10, 10] });
    leaver.abort(new Error('client left'));
    await pool.finish(reply);
    await pool.finish(reply);
    expect((await call).first).toHaveLength(2);
  });

  it('refuses at once a caller that has already left', async () => {
    const { submit, running } = setUp();
    await expect(submit('a', { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    expect(running()).toEqual([]);
  });

  it('refuses a call that could not begin in time, with the time it would have waited', async () => {
    const { submit } = setUp({ deadlineMs: 299 });
    for (const keyId of ['a', 'b', 'c']) void submit('x', { keyId });
    await expect(submit('late', { keyId: 'a', costs: [1000] })).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterMs: 353,
    });
  });

  it('refuses a waiting call when its deadline passes', async () => {
    const { clock, submit, dispatcher } = setUp({ deadlineMs: 300 });
    void submit('a');
    const waiting = submit('b');
    clock.advance(301);
    await expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
    expect(dispatcher.queuedJobs).toBe(0);
  });

  it('refuses when the queue is full', async () => {
    const { submit } = setUp({ maxJobs: 2 });
    for (const keyId of ['a', 'b', 'c']) void submit('x', { keyId, costs: [1] });
    await expect(submit('y', { keyId: 'd', costs: [1] })).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('passes a failure on, drops what waits of that call, and goes on with the next', async () => {
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
    const { pool, submit, dispatcher } = setUp();
    await dispatcher.idle();
    const calls = [submit('a'), submit('b')];
    let idle = false;
    const waiting = dispatcher.idle().then(() => {
      idle = true;
    });
    await pool.finish(reply);
    expect(idle).toBe(false);
    await pool.finish(reply);
    await Promise.all([waiting, ...calls]);
    expect(idle).toBe(true);
  });

  it('is idle when the last waiting call is dropped', async () => {
    const { pool, submit, dispatcher } = setUp();
    const leaver = new AbortController();
    const first = submit('a');
    const left = submit('b', { signal: leaver.signal }).catch(() => 'left');
    const idle = dispatcher.idle();
    leaver.abort();
    await pool.finish(reply);
    expect(await left).toBe('left');
    await Promise.all([idle, first]);
  });

  it('probes only a free worker, and knows when a run is late', async () => {
    const { pool, clock, dispatcher, submit, running } = setUp();
    const probe = dispatcher.probe(50);
    expect(running()).toEqual(['probe']);
    await pool.finish({});
    expect(await probe).toBe(true);
    const call = submit('a', { costs: [100] });
    expect(await dispatcher.probe(50)).toBe(false);
    clock.advance(301);
    expect(dispatcher.lateMs()).toBe(1);
    await pool.finish(reply);
    await call;
    expect(dispatcher.lateMs()).toBe(0);
    await settle();
  });
});
