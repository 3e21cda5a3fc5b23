import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualTicket, type ManualTicketOptions } from '../../../test/engine/manual-ticket.ts';
import { AGEING, EMBEDDING_PATIENCE_MS, FairQueue, type QueuePlace } from './queue.ts';
import type { QueueClass, QueuedTicket } from './queued-ticket.ts';

function queueOf(tickets: Readonly<Record<string, ManualTicketOptions>>): FairQueue {
  const queue = new FairQueue();
  for (const [name, options] of Object.entries(tickets)) queue.push(new ManualTicket(name, options));
  return queue;
}

const placeOf = (changes: Partial<QueuePlace> = {}): QueuePlace => {
  return { keyId: 'key', queueClass: 'decision', submittedMs: 0, latestStartMs: undefined, ...changes };
};
const nameOf = (ticket: QueuedTicket | undefined) => (ticket instanceof ManualTicket ? ticket.name : undefined);

/** Hands out the next part. */
function take(queue: FairQueue, nowMs: number): QueuedTicket | undefined {
  const ticket = queue.find(nowMs);
  if (ticket !== undefined) queue.handOut(ticket);
  return ticket;
}

function takeAll(queue: FairQueue, nowMs = 0): string {
  const taken: string[] = [];
  for (let next = queue.find(nowMs); next !== undefined; next = queue.find(nowMs)) {
    taken.push(`${nameOf(next)}${next.nextPart}`);
    queue.handOut(next);
  }
  return taken.join(' ');
}

describe('queue', () => {
  it('serves a key what is soonest done first', () => {
    expect(takeAll(queueOf({ a: { costs: [9] }, b: { costs: [1] }, c: { costs: [5] } }))).toBe('b0 c0 a0');
  });

  it('serves equal tickets in the order they came', () => {
    const entries = { a: { costs: [5], submittedMs: 0 }, b: { costs: [5], submittedMs: 1 } };
    expect(takeAll(queueOf(entries), 2)).toBe('a0 b0');
  });

  it('goes on with the decision of which least remains', () => {
    const queue = queueOf({ first: { costs: [40, 40, 40] }, second: { costs: [40, 40, 41] } });
    expect(takeAll(queue)).toBe('first0 first1 first2 second0 second1 second2');
  });

  it('lets a ticket that takes longer than that be overtaken by fresh short ones for four times its own length, no longer', () => {
    const overtakes = (waitedMs: number) => {
      const queue = queueOf({ long: { costs: [800] }, short: { costs: [10], submittedMs: waitedMs } });
      return nameOf(queue.find(waitedMs));
    };
    expect(overtakes(790 / AGEING - 1)).toBe('short');
    expect(overtakes(790 / AGEING + 1)).toBe('long');
  });

  it('serves a ticket that would take far longer than others before fresh shorter ones, the one due first first', () => {
    const queueAt = (waitedMs: number) =>
      queueOf({
        medium: { costs: [200] },
        earlier: { costs: [300] },
        short: { costs: [10], submittedMs: waitedMs },
      });
    // Before anything is measured tickets are taken to need 250 ms, and patience is 2.1 times that.
    expect(takeAll(queueAt(200), 200)).toBe('short0 medium0 earlier0');
    expect(takeAll(queueAt(230), 230)).toBe('earlier0 short0 medium0');
    expect(takeAll(queueAt(330), 330)).toBe('medium0 earlier0 short0');
  });

  it('serves tickets of nearly one length in the order they come', () => {
    const queue = queueOf({ first: { costs: [10.9] }, second: { costs: [10], submittedMs: 10 } });
    expect(takeAll(queue, 10)).toBe('first0 second0');
  });

  it('has the more patience the longer tickets take', () => {
    const queue = queueOf({ medium: { costs: [200] }, short: { costs: [10], submittedMs: 400 } });
    expect(queue.overtakenForMs('decision', 200)).toBe(325);
    for (let i = 0; i < 400; i++) queue.answered('decision', 1000);
    expect(queue.overtakenForMs('decision', 200)).toBeCloseTo(1900, 0);
    expect(queue.overtakenForMs('embedding', 200)).toBe(325);
    expect(takeAll(queue, 400)).toBe('short0 medium0');
  });

  it('serves a ticket whose last moment has come before all others of its key, the most urgent first', () => {
    const queue = queueOf({
      short: { costs: [1] },
      urgent: { costs: [50], latestStartMs: 90 },
      later: { costs: [2], latestStartMs: 200 },
      most: { costs: [60], latestStartMs: 80 },
    });
    expect(takeAll(queue, 100)).toBe('most0 urgent0 short0 later0');
  });

  it('lets keys take turns, by the time they cost', () => {
    const lane = (keyId: string, costs: number[]) => ({ keyId, costs });
    const queue = queueOf({
      a: lane('heavy', [10]),
      b: lane('heavy', [10]),
      x: lane('light', [5]),
      y: lane('light', [5]),
      z: lane('light', [5]),
    });
    expect(takeAll(queue)).toBe('a0 x0 y0 b0 z0');
  });

  it('gives a key that comes late its turn, but nothing for the time it was away', () => {
    const queue = queueOf(Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { keyId: 'early', costs: [10] }])));
    expect([take(queue, 0), take(queue, 0)].map(nameOf)).toEqual(['a', 'b']);
    for (const name of ['x', 'y', 'z']) queue.push(new ManualTicket(name, { keyId: 'late', costs: [10] }));
    expect(takeAll(queue)).toBe('x0 c0 y0 z0');
  });

  it('serves counting before decisions and decisions before embeddings', () => {
    const queue = queueOf({
      e: { queueClass: 'embedding', costs: [1, 1] },
      d: { keyId: 'other', costs: [100] },
      c: { keyId: 'third', queueClass: 'counting', costs: [200] },
    });
    expect(takeAll(queue)).toBe('c0 d0 e0 e1');
  });

  it('lets an embedding that has waited long compete with decisions', () => {
    const taken = (waitedMs: number) => {
      const queue = queueOf({
        e: { queueClass: 'embedding', costs: [20] },
        d: { costs: [20], submittedMs: waitedMs },
      });
      return nameOf(queue.find(waitedMs));
    };
    expect(taken(EMBEDDING_PATIENCE_MS - 1)).toBe('d');
    expect(taken(EMBEDDING_PATIENCE_MS)).toBe('e');
  });

  it('passes over what may not run now', () => {
    const queue = queueOf({ a: { costs: [1] }, b: { costs: [2] } });
    expect(nameOf(queue.find(0, (ticket) => nameOf(ticket) !== 'a'))).toBe('b');
    expect(queue.find(0, () => false)).toBeUndefined();
    expect(takeAll(queue)).toBe('a0 b0');
  });

  it('keeps the place of a ticket whose later parts are still to come, and its age', () => {
    const big = new ManualTicket('big', { costs: [10], laterCosts: [30, 30] });
    const queue = queueOf({ other: { costs: [65], submittedMs: 1 } });
    queue.push(big);
    expect([queue.jobCount(), queue.waitingCostMs()]).toEqual([2, 135]);
    expect([nameOf(take(queue, 2)), nameOf(take(queue, 2))]).toEqual(['other', 'big']);
    big.beginPart(2);
    expect([queue.find(2), queue.jobCount(), queue.isEmpty, queue.waitingCostMs()]).toEqual([undefined, 0, false, 60]);
    queue.push(new ManualTicket('short', { submittedMs: 2, costs: [5] }));
    expect(big.endPart()).toBe(false);
    expect(takeAll(queue, 2)).toBe('short0 big0 big1');
    expect(queue.isEmpty).toBe(true);
  });

  it('forgets a removed ticket with all parts that still wait', () => {
    const queue = queueOf({ gone: { costs: [10, 10] }, stays: { keyId: 'b', costs: [1] } });
    const gone = take(queue, 0);
    expect(nameOf(gone)).toBe('gone');
    if (gone !== undefined) expect([queue.remove(gone), queue.remove(gone)]).toEqual([true, false]);
    expect(queue.waitingCostMs()).toBe(1);
    expect(takeAll(queue)).toBe('stays0');
    expect(queue.isEmpty).toBe(true);
  });
});

describe('work ahead of a new ticket', () => {
  const heavy = Object.fromEntries(
    Array.from({ length: 10 }, (_, i) => [`${i}`, { keyId: 'heavy', costs: [100] as number[] }]),
  );

  it('is little for a light key and all of its own for a heavy one', () => {
    const queue = queueOf(heavy);
    expect(queue.workAhead(placeOf({ keyId: 'light' }), 10, 0)).toEqual({ ownMs: [], othersMs: 10 });
    expect(queue.workAhead(placeOf({ keyId: 'heavy' }), 100, 0).ownMs).toEqual(new Array(10).fill(100));
  });

  it('is nothing that is longer than itself, unless that has waited or has a time to keep', () => {
    const queue = queueOf(heavy);
    const short = placeOf({ keyId: 'heavy', submittedMs: 10, latestStartMs: 300 });
    expect(queue.workAhead(short, 10, 10).ownMs).toEqual([]);
    queue.push(new ManualTicket('timed', { keyId: 'heavy', latestStartMs: 200, costs: [70] }));
    expect(queue.workAhead(short, 10, 10).ownMs).toEqual([70]);
    const later = { ...short, submittedMs: 2000, latestStartMs: 2300 };
    expect(queue.workAhead(later, 10, 2000).ownMs).toHaveLength(11);
  });

  it('is every decision for an embedding', () => {
    const embedding = placeOf({ keyId: 'light', queueClass: 'embedding' });
    expect(queueOf(heavy).workAhead(embedding, 10, 0)).toEqual({ ownMs: [], othersMs: 1000 });
  });
});

describe('queue, whatever comes', () => {
  it('hands everything out once and keeps its sums', () => {
    const arbitraryEntry = fc.record({
      keyId: fc.constantFrom('a', 'b', 'c'),
      queueClass: fc.constantFrom<QueueClass>('decision', 'embedding', 'counting'),
      costs: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(arbitraryEntry), fc.nat(5000), (entries, nowMs) => {
        const queue = queueOf(Object.fromEntries(entries.map((each, place) => [`${place}-`, each])));
        const costs = entries.flatMap((each) => each.costs);
        expect(queue.waitingCostMs()).toBe(costs.reduce((a, b) => a + b, 0));
        expect(queue.jobCount()).toBe(entries.length);
        const taken = takeAll(queue, nowMs).split(' ').filter(Boolean);
        expect([taken.length, new Set(taken).size]).toEqual([costs.length, costs.length]);
        expect([queue.isEmpty, queue.waitingCostMs()]).toEqual([true, 0]);
      }),
    );
  });

  it('never lets one key get ahead of another by more than one ticket', () => {
    const costs = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 5, maxLength: 20 });
    fc.assert(
      fc.property(costs, costs, (left, right) => {
        const both = { left, right };
        const queue = new FairQueue();
        for (const keyId of ['left', 'right'] as const) {
          for (const cost of both[keyId]) queue.push(new ManualTicket(`${cost}`, { keyId, costs: [cost] }));
        }
        const given = { left: 0, right: 0 };
        while (queue.jobCount('left') > 0 && queue.jobCount('right') > 0) {
          const taken = take(queue, 0);
          if (taken?.keyId === 'left') given.left += taken.costMs;
          else given.right += taken?.costMs ?? 0;
          expect(Math.abs(given.left - given.right)).toBeLessThanOrEqual(20);
        }
      }),
    );
  });
});
