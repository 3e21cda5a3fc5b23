// Parts of several tickets as one task: what is in a batch, when it begins, who leaves it, and what becomes of each.

import { describe, expect, it } from 'vitest';
import { BatchedModel } from '../../../src/engine/scheduling/batching.ts';
import { Scheduler } from '../../../src/engine/scheduling/scheduler.ts';
import type { DecideReply, SharedReply } from '../../../src/runtime/messages.ts';
import { ManualClock } from '../manual-clock.ts';
import { ManualPool, settle } from '../manual-pool.ts';
import { ManualTicket, type ManualTicketOptions } from '../manual-ticket.ts';

const value: DecideReply = {
  probabilities: [[1]],
  inputTokens: 1,
  stateTokens: 1,
  keptTokens: 0,
  isKept: false,
  tokenizeMs: 0,
  inferMs: 0,
};

function setUp({ workers = 4, deadlineMs = 1000 } = {}) {
  const [pool, clock] = [new ManualPool(workers), new ManualClock()];
  const scheduler = new Scheduler({ pool, clock, limits: { maxJobs: 1000, maxCostMs: 100_000, deadlineMs } });
  const model = new BatchedModel('model', { tokens: 1000, waitMs: 5, inFlight: 2 });
  const submit = (name: string, tokens: number, options: Partial<ManualTicketOptions> = {}) => {
    const ticket = new ManualTicket(name, { costs: [1], ...options, scheduler, batch: { model, tokens } });
    const end = ticket.run().then(
      () => 'answered' as const,
      (error: unknown) => error,
    );
    return { ticket, end };
  };
  /** Names of the tickets in each batch that runs. */
  const running = () =>
    pool.started.map(({ task }) => (task.kind === 'batch' ? task.tasks.map((each) => each.modelId) : task.kind));
  const finish = (replies?: SharedReply['replies']): Promise<void> => {
    const task = pool.started[0]?.task;
    const count = task?.kind === 'batch' ? task.tasks.length : 0;
    return pool.finish({ replies: replies ?? Array.from({ length: count }, () => ({ value })) });
  };
  return { pool, clock, scheduler, model, submit, running, finish };
}

describe('batches', () => {
  it('begin at once on an idle device, and then gather while it has work', async () => {
    const { clock, submit, running, finish } = setUp();
    const all = ['a', 'b', 'c'].map((name) => submit(name, 100));
    expect(running()).toEqual([['a']]);
    clock.advance(5);
    expect(running()).toEqual([['a'], ['b', 'c']]);
    const more = ['d', 'e', 'f'].map((name) => submit(name, 100));
    clock.advance(500);
    expect(running()).toEqual([['a'], ['b', 'c']]);
    await finish();
    expect(running()).toEqual([
      ['b', 'c'],
      ['d', 'e', 'f'],
    ]);
    await finish();
    await finish();
    expect(await Promise.all([...all, ...more].map(({ end }) => end))).toEqual(Array(6).fill('answered'));
    const company = [...all, ...more].map(({ ticket }) => ticket.parts[0]?.hadCompany);
    expect(company).toEqual([false, true, true, true, true, true]);
    expect(clock.timerCount).toBe(0);
  });

  it('hold no more tokens than they may, and a full one is prepared ahead', () => {
    const { submit, running } = setUp();
    submit('first', 10);
    for (const name of ['a', 'b', 'c', 'd', 'e']) submit(name, 400);
    expect(running()).toEqual([['first'], ['a', 'b'], ['c', 'd']]);
  });

  it('take one that is longer than a batch by itself', () => {
    const { clock, submit, running } = setUp();
    submit('first', 10);
    submit('giant', 5000);
    submit('small', 10);
    clock.advance(5);
    expect(running()).toContainEqual(['giant']);
  });

  it('are shared fairly: a key with one call is in the next batch, however much another has sent', async () => {
    const { clock, submit, running, finish } = setUp({ workers: 2 });
    submit('first', 10);
    for (let at = 0; at < 40; at++) submit(`flood-${at}`, 100, { keyId: 'flood' });
    clock.advance(5);
    submit('late', 100, { keyId: 'other' });
    await finish();
    expect(running()[1]).toContain('late');
  });

  it('do not have what a caller left behind, nor what its deadline has passed by', async () => {
    const { clock, submit, running, finish } = setUp({ workers: 1, deadlineMs: 50 });
    const leaver = new AbortController();
    submit('first', 10);
    const left = submit('left', 100, { signal: leaver.signal });
    const late = submit('late', 100);
    leaver.abort(new Error('gone'));
    clock.advance(60);
    const stays = submit('stays', 100);
    expect(await left.end).toMatchObject({ message: 'gone' });
    expect(await late.end).toMatchObject({ code: 'overloaded' });
    await finish();
    expect(running()).toEqual([['stays']]);
    await finish();
    expect(await stays.end).toBe('answered');
  });

  it('are billed nothing twice when a caller leaves once it runs: it ends as one of the batch', async () => {
    const { submit, finish } = setUp();
    const leaver = new AbortController();
    const { end } = submit('a', 10, { signal: leaver.signal });
    leaver.abort();
    await finish();
    expect(await end).toBe('answered');
  });

  it('fail the one whose text is too long, and answer its neighbours', async () => {
    const { clock, submit, finish } = setUp();
    submit('first', 10);
    const [good, bad] = [submit('good', 10), submit('bad', 10)];
    clock.advance(5);
    await finish();
    await finish([{ value }, { error: { code: 'context_length_exceeded', message: 'too long' } }]);
    expect(await good.end).toBe('answered');
    expect(await bad.end).toMatchObject({ code: 'context_length_exceeded' });
  });

  it('fail as a whole, once each, when the device falls out, and the next is tried all the same', async () => {
    const { clock, pool, submit, running, finish } = setUp({ workers: 1 });
    submit('first', 10);
    await finish();
    const lost = ['a', 'b'].map((name) => submit(name, 10));
    const next = submit('c', 10);
    clock.advance(5);
    await pool.fail(new Error('CUDA failure 719'));
    await finish();
    expect(await lost[0]?.end).toMatchObject({ message: 'CUDA failure 719' });
    expect([await lost[1]?.end, await next.end]).toEqual(['answered', 'answered']);
    expect(running()).toEqual([]);
  });

  it('leave what runs by itself its workers', () => {
    const { submit, running, scheduler } = setUp({ workers: 3 });
    submit('first', 10);
    submit('waits', 10);
    void new ManualTicket('alone', { costs: [5], scheduler }).run();
    expect(running()).toEqual([['first'], 'decide']);
  });

  it('learn what they take, and let in only what can be answered in time', async () => {
    const { clock, model, submit, finish } = setUp({ workers: 2 });
    for (let round = 0; round < 60; round++) {
      submit(`a${round}`, 100 + round * 10);
      clock.advance(40);
      await finish();
    }
    expect(model.time.batchMs(400)).toBeGreaterThan(30);
    submit('runs', 900);
    const hopeless = submit('hopeless', 900, { costs: [60], deadlineMs: 20 });
    await settle();
    expect(await hopeless.end).toMatchObject({ code: 'overloaded' });
  });
});
