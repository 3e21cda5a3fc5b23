// Memory that workers share: how much at once, who begins next, and what is used again or given back.

import { describe, expect, it } from 'vitest';
import { SharedMemories } from '../../../src/engine/decision/shared-memories.ts';
import { ManualClock } from '../manual-clock.ts';

const MIB = 2 ** 20;
const hold = (bytes: number, submittedMs = 0) => ({ bytes, submittedMs });

function setUp(budgetBytes: number) {
  const clock = new ManualClock();
  return { clock, memories: new SharedMemories({ budgetBytes, clock }) };
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
    const [giant, other] = [hold(300), hold(20)];
    memories.begin(giant);
    memories.end(other, [new SharedArrayBuffer(8)]);
    const used = new SharedArrayBuffer(300);
    memories.end(giant, [used]);
    expect(memories.take(300)).not.toBe(used);
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

  it('are as large as a share may come to, so that the next decision can use them', () => {
    const { memories } = setUp(64 * MIB);
    const decision = hold(4 * MIB);
    memories.begin(decision);
    const first = memories.take(4 * MIB);
    expect(first.byteLength).toBe(4 * MIB);
    memories.end(decision, [first]);
    expect(memories.take(4 * MIB)).toBe(first);
  });

  it('are used again, and given back but for a little when nobody has used them for long', () => {
    const { memories, clock } = setUp(64 * MIB);
    const decision = hold(24 * MIB);
    memories.begin(decision);
    const used = [memories.take(12 * MIB), memories.take(12 * MIB)];
    memories.end(decision, used);
    expect(used).not.toContain(memories.take(13 * MIB));
    const taken = memories.take(4 * MIB);
    expect(used).toContain(taken);
    memories.end(decision, [taken]);
    clock.advance(30_000);
    const kept = [memories.take(12 * MIB), memories.take(12 * MIB)].filter((memory) => used.includes(memory));
    expect(kept).toHaveLength(1);
    expect(clock.timerCount).toBe(0);
  });
});
