import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LentMemory } from './lent-memory.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('lent memory', () => {
  it('is given to who asks for the same document, once', () => {
    const lent = new LentMemory();
    const memory = new Float32Array(4);
    lent.put('a', memory);
    expect([lent.take('a'), lent.take('a')]).toEqual([memory, undefined]);
    vi.advanceTimersByTime(10_000);
    expect(memory.length).toBe(4);
  });

  it('is freed when another document comes', () => {
    const lent = new LentMemory();
    const [first, second] = [new Float32Array(4), new Float32Array(4)];
    lent.put('a', first);
    lent.put('b', second);
    expect([first.length, second.length]).toEqual([0, 4]);
    expect(lent.take('a')).toBeUndefined();
    expect(second.length).toBe(0);
  });

  it('is freed when nobody asks for it', () => {
    const lent = new LentMemory();
    const memory = new Float32Array(4);
    lent.put('a', memory);
    vi.advanceTimersByTime(1000);
    expect([memory.length, lent.take('a')]).toEqual([0, undefined]);
  });
});
