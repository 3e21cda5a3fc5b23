// Memory that workers share: how much at once, who begins next, and what is used again or given back.

import { describe, expect, it } from 'vitest';
import { type MemoryHold, SharedMemories } from '../../../src/engine/decision/shared-memories.ts';
import { ManualClock } from '../manual-clock.ts';

const MIB = 2 ** 20;
/** What a decision writes into, once it has begun. */
const use = (memories: SharedMemories, each: MemoryHold): SharedArrayBuffer => {
  memories.begin(each);
  return memories.memoryOf(each);
};
const hold = (bytes: number, submittedMs = 0) => ({ bytes, submittedMs });

function setUp(budgetBytes: number) {
  const clock = new ManualClock();
  return { clock, memories: new SharedMemories({ budgetBytes, largestBytes: 64 * MIB, clock }) };
}

describe('shared memories', () => {
  it('let decisions in as long as they fit, and the only one in any case', () => {
    const { memories } = setUp(100);
    const [giant, small] = [hold(300), hold(40)];
    expect(memories.hasRoom(giant)).toBe(true);
    memories.begin(giant);
    expect(memories.hasRoom(small)).toBe(false);
    memories.end(giant);
    memories.begin(small);
    expect([memories.hasRoom(hold(60)), memories.hasRoom(hold(61))]).toEqual([true, false]);
  });

  it('let a decision larger than the budget end, and keep nothing of it', () => {
    const { memories } = setUp(100);
    const giant = hold(300);
    const used = use(memories, giant);
    memories.end(giant);
    expect(use(memories, hold(300))).not.toBe(used);
  });

  it('let no small one past a large one that has waited long', () => {
    const { memories, clock } = setUp(100);
    const [first, large, small] = [hold(40), hold(90), hold(10)];
    memories.begin(first);
    expect(memories.hasRoom(large)).toBe(false);
    expect(memories.hasRoom(small)).toBe(true);
    clock.advance(1000);
    expect(memories.hasRoom(small)).toBe(false);
    memories.end(first);
    expect([memories.hasRoom(small), memories.hasRoom(large)]).toEqual([false, true]);
    memories.begin(large);
    memories.end(large);
    expect(memories.hasRoom(small)).toBe(true);
  });

  it('forget one that left while it waited', () => {
    const { memories, clock } = setUp(100);
    const [first, left] = [hold(40), hold(90)];
    memories.begin(first);
    expect(memories.hasRoom(left)).toBe(false);
    clock.advance(2000);
    memories.end(left);
    expect(memories.hasRoom(hold(10))).toBe(true);
  });

  it('are one to a decision, with room for any document', () => {
    const { memories } = setUp(64 * MIB);
    const [first, second] = [hold(4 * MIB), hold(4 * MIB)];
    const memory = use(memories, first);
    expect(memory.byteLength).toBe(64 * MIB);
    expect(memories.memoryOf(first)).toBe(memory);
    expect(use(memories, second)).not.toBe(memory);
  });

  it('are used again, what a document of the size has touched already first, then what is touched most', () => {
    const { memories } = setUp(64 * MIB);
    const sizes = [4 * MIB, 12 * MIB, 24 * MIB];
    const holds = sizes.map((bytes) => hold(bytes));
    const used = holds.map((each) => use(memories, each));
    for (const each of holds) memories.end(each);
    const again = [hold(10 * MIB), hold(30 * MIB), hold(1 * MIB)].map((each) => use(memories, each));
    expect(again.map((memory) => used.indexOf(memory))).toEqual([1, 2, 0]);
  });

  it('are given back but for a little when nobody has used them for long', () => {
    const { memories, clock } = setUp(64 * MIB);
    const holds = [hold(12 * MIB), hold(13 * MIB)];
    const used = holds.map((each) => use(memories, each));
    for (const each of holds) memories.end(each);
    clock.advance(30_000);
    const kept = [use(memories, hold(12 * MIB)), use(memories, hold(12 * MIB))].map((memory) => used.indexOf(memory));
    expect(kept).toEqual([0, -1]);
    expect(clock.timerCount).toBe(0);
  });

  it('are not left to the next decision before the one that writes there ends', () => {
    const { memories } = setUp(64 * MIB);
    const [writing, other, late] = [hold(4 * MIB), hold(4 * MIB), hold(4 * MIB)];
    const memory = use(memories, writing);
    memories.end(other);
    expect(use(memories, late)).not.toBe(memory);
  });
});
