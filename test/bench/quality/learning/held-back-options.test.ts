import { describe, expect, it } from 'vitest';
import { drawRows } from '../../../../bench/quality/learning/draw-rows.ts';
import { measureHeldBackOptions } from '../../../../bench/quality/learning/held-back-options.ts';
import { makeUpTask } from './made-up-task.ts';

const LIMITS = { seeds: 1, trainingRows: 100, testRows: 90 };
const drawsOf = (rows: number, options: number) => drawRows({ rows, options }, LIMITS);

describe('an option whose rows are held back', () => {
  it('is found by what the base says of it, the others by the head', async () => {
    const task = makeUpTask({ zeroShot: 0.6 });
    const found = await measureHeldBackOptions(task, drawsOf(240, 3));
    expect(found).toHaveLength(3);
    for (const { share, zeroShot, heldBack, learned } of found) {
      expect(share).toBeGreaterThan(0.2);
      // The base is right everywhere here.
      expect(zeroShot).toEqual({ chosen: share, recall: 1, othersAccuracy: 1 });
      expect(heldBack.recall).toBeGreaterThan(0.5);
      expect(heldBack.othersAccuracy).toBeGreaterThan(0.8);
      expect(learned.recall).toBeGreaterThan(0.9);
    }
  });

  it('is not known to the head: a base that knows nothing of it leaves it behind', async () => {
    const found = await measureHeldBackOptions(makeUpTask(), drawsOf(240, 3));
    for (const { heldBack, learned } of found) expect(heldBack.recall).toBeLessThan(learned.recall - 0.2);
  });

  it('is not asked for where there are two options, or too few rows', async () => {
    expect(await measureHeldBackOptions(makeUpTask({ options: 2 }), drawsOf(240, 2))).toEqual([]);
    expect(await measureHeldBackOptions(makeUpTask({ rows: 90 }), drawsOf(90, 3))).toEqual([]);
  });
});
