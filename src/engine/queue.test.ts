import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue, type QueueClass, type QueueEntry } from './queue.ts';

interface Named extends QueueEntry {
  readonly name: string;
}

function entry(name: string, keyId: string, costs: number[], queueClass: QueueClass = 'decision'): Named {
  return { name, keyId, partCostsMs: costs, queueClass };
}

function takeAll(queue: FairQueue<Named>): string[] {
  const taken: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(`${next.entry.name}${next.part}`);
  return taken;
}

function queueOf(...entries: Named[]): FairQueue<Named> {
  const queue = new FairQueue<Named>();
  for (const each of entries) queue.push(each);
  return queue;
}

describe('queue', () => {
  it('gives a key its calls in the order they came', () => {
    expect(takeAll(queueOf(entry('a', 'k', [9]), entry('b', 'k', [1]), entry('c', 'k', [5])))).toEqual([
      'a0',
      'b0',
      'c0',
    ]);
  });

  it('lets keys take turns, by the time they cost', () => {
    const heavy = ['a', 'b', 'c'].map((name) => entry(name, 'heavy', [10]));
    const light = ['x', 'y', 'z'].map((name) => entry(name, 'light', [5]));
    expect(takeAll(queueOf(...heavy, ...light))).toEqual(['a0', 'x0', 'y0', 'b0', 'z0', 'c0']);
  });

  it('gives a key that comes late its turn, but nothing for the time it was away', () => {
    const queue = queueOf(entry('a', 'early', [10]), entry('b', 'early', [10]), entry('c', 'early', [10]));
    expect([queue.take(), queue.take()].map((part) => part?.entry.name)).toEqual(['a', 'b']);
    for (const name of ['x', 'y', 'z']) queue.push(entry(name, 'late', [10]));
    expect(takeAll(queue)).toEqual(['x0', 'c0', 'y0', 'z0']);
  });

  it('puts decisions before embeddings', () => {
    const queue = queueOf(entry('e', 'k', [1, 1], 'embedding'), entry('d', 'other', [100]));
    expect(queue.take()?.entry.name).toBe('d');
    expect(queue.take()?.entry.name).toBe('e');
    queue.push(entry('d2', 'other', [100]));
    expect(takeAll(queue)).toEqual(['d20', 'e1']);
  });

  it('hands a large call out part by part, between the calls of others', () => {
    const queue = queueOf(entry('big', 'a', [10, 10, 10], 'embedding'), entry('small', 'b', [1], 'embedding'));
    expect(takeAll(queue)).toEqual(['big0', 'small0', 'big1', 'big2']);
  });

  it('forgets a removed call with all parts that still wait', () => {
    const [gone, stays] = [entry('gone', 'a', [10, 10]), entry('stays', 'b', [1])];
    const queue = queueOf(gone, stays);
    expect(queue.take()?.entry).toBe(gone);
    expect(queue.remove(gone)).toBe(true);
    expect(queue.remove(gone)).toBe(false);
    expect(queue.waitingCostMs()).toBe(1);
    expect(takeAll(queue)).toEqual(['stays0']);
    expect(queue.jobCount()).toBe(0);
  });

  it('tells a light key that it is soon served, and a heavy one that it is not', () => {
    const queue = queueOf(...Array.from({ length: 10 }, (_, i) => entry(`${i}`, 'heavy', [100])));
    expect(queue.costAheadMs(entry('x', 'light', [10]))).toBe(10);
    expect(queue.costAheadMs(entry('x', 'heavy', [10]))).toBe(1000);
    expect(queue.costAheadMs(entry('x', 'light', [10], 'embedding'))).toBe(1000);
  });

  it('hands everything out once and keeps its sums, whatever comes', () => {
    const arbitraryEntry = fc.record({
      name: fc.string(),
      keyId: fc.constantFrom('a', 'b', 'c'),
      queueClass: fc.constantFrom<QueueClass>('decision', 'embedding'),
      partCostsMs: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(arbitraryEntry), (entries) => {
        const queue = queueOf(...entries);
        const total = entries.flatMap((each) => each.partCostsMs).reduce((a, b) => a + b, 0);
        expect(queue.waitingCostMs()).toBe(total);
        expect(queue.jobCount()).toBe(entries.length);
        expect(takeAll(queue)).toHaveLength(entries.flatMap((each) => each.partCostsMs).length);
        expect([queue.jobCount(), queue.waitingCostMs()]).toEqual([0, 0]);
      }),
    );
  });

  it('never lets one key get ahead of another by more than one call', () => {
    const costs = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 5, maxLength: 20 });
    fc.assert(
      fc.property(costs, costs, (left, right) => {
        const queue = queueOf(
          ...left.map((cost, i) => entry(`l${i}`, 'left', [cost])),
          ...right.map((cost, i) => entry(`r${i}`, 'right', [cost])),
        );
        const given = { left: 0, right: 0 };
        while (queue.jobCount('left') > 0 && queue.jobCount('right') > 0) {
          const taken = queue.take()?.entry;
          if (taken?.keyId === 'left') given.left += taken.partCostsMs[0] ?? 0;
          else given.right += taken?.partCostsMs[0] ?? 0;
          expect(Math.abs(given.left - given.right)).toBeLessThanOrEqual(20);
        }
      }),
    );
  });
});
