import { describe, expect, it } from 'vitest';
import { chooseWorker } from './running-tasks.ts';

const saving = (saved: Readonly<Record<number, number>>, mayWait = true) => ({
  mayWait,
  savedMs: (worker: number) => saved[worker] ?? 0,
});
const times = (idle: number[], busy: [number, number][] = []) => ({ idle, busy: new Map(busy) });

describe('choice of a worker', () => {
  it('takes the one that has been idle longest', () => {
    expect(chooseWorker(saving({}), times([2, 0]))).toBe(2);
  });

  it('prefers an idle worker that is spared work', () => {
    expect(chooseWorker(saving({ 0: 5 }), times([2, 0]))).toBe(0);
  });

  it('waits for a busy one only as long as that pays', () => {
    expect(chooseWorker(saving({ 1: 100 }), times([0], [[1, 40]]))).toBeUndefined();
    expect(chooseWorker(saving({ 1: 100 }), times([0], [[1, 140]]))).toBe(0);
    expect(chooseWorker(saving({ 0: 80, 1: 100 }), times([0], [[1, 40]]))).toBe(0);
  });

  it('does not wait where all are to help', () => {
    expect(chooseWorker(saving({ 1: 100 }, false), times([0], [[1, 1]]))).toBe(0);
  });

  it('waits in any case for the only one that may run it', () => {
    expect(chooseWorker(saving({ 1: Number.POSITIVE_INFINITY }), times([0], [[1, 9999]]))).toBeUndefined();
  });
});
