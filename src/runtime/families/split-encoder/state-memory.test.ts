import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowKey } from '../../messages.ts';
import { KeyValueLayout } from './key-values.ts';
import { type Lease, StateMemory } from './state-memory.ts';

const FLOAT_BYTES = 4;
/** Two floats a token: one key, one value. */
const layout = new KeyValueLayout({ layers: 1, heads: 1, headSize: 1 });

const openMemory = (keptBytes: number) => new StateMemory({ keptBytes, scratchBytes: 1 << 20 });

/** A document of so many floats, shared out over its windows. */
function windows(floats: number, ...keys: string[]): WindowKey[] {
  const tokens = floats / 2;
  return keys.map((key, place) => ({ key, tokens: place === 0 ? tokens - (keys.length - 1) : 1 }));
}

function put(memory: StateMemory, floats: number, ...keys: string[]): number {
  const document = memory.lend(windows(floats, ...keys), layout);
  const start = startOf(document);
  document.keep();
  document.release();
  return start;
}

function isKept(memory: StateMemory, floats: number, ...keys: string[]): boolean {
  const found = memory.find(windows(floats, ...keys));
  found?.release();
  return found !== undefined;
}

/** Floats of the lease's memory, which is all one. */
const floatsOf = ({ keyValues }: Lease): Float32Array => {
  const [keys, values] = keyValues.parts;
  if (keys === undefined || values === undefined) throw new Error('keys and values were due');
  return new Float32Array(keys.buffer, keys.byteOffset, keys.length + values.length);
};
const startOf = (lease: Lease): number => floatsOf(lease).byteOffset / FLOAT_BYTES;

describe('the memory of documents', () => {
  it('finds a document by its windows, with what was written', () => {
    const memory = openMemory(400);
    for (const [value, ...keys] of [
      [7, 'a', 'b'],
      [8, 'b', 'a'],
    ] as const) {
      const document = memory.lend(windows(10, ...keys), layout);
      floatsOf(document).fill(value);
      document.keep();
      document.release();
    }
    const found = memory.find(windows(10, 'a', 'b'));
    expect(found && [...floatsOf(found)]).toEqual(Array.from({ length: 10 }, () => 7));
    expect(isKept(memory, 10, 'a')).toBe(false);
  });

  it('finds a window in the document that holds it', () => {
    const memory = openMemory(400);
    const start = put(memory, 10, 'a', 'b');
    const found = memory.findWindow('b');
    expect([found?.from, found && startOf(found.document)]).toEqual([4, start]);
    expect(memory.findWindow('c')).toBeUndefined();
  });

  it('lets the least recently used go', () => {
    const memory = openMemory(30 * FLOAT_BYTES);
    for (const key of ['a', 'b', 'c']) put(memory, 10, key);
    expect(isKept(memory, 10, 'a')).toBe(true);
    put(memory, 10, 'd');
    expect(['a', 'b', 'c', 'd'].map((key) => isKept(memory, 10, key))).toEqual([true, false, true, true]);
  });

  it('lets as many go as a large one needs side by side', () => {
    const memory = openMemory(40 * FLOAT_BYTES);
    for (const key of ['a', 'b', 'c', 'd']) put(memory, 10, key);
    isKept(memory, 10, 'b');
    expect(put(memory, 20, 'e')).toBe(20);
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => isKept(memory, 10, key))).toEqual([false, true, false, false, true]);
  });

  it('never lets go of what is in use', () => {
    const memory = openMemory(30 * FLOAT_BYTES);
    for (const key of ['a', 'b', 'c']) put(memory, 10, key);
    const used = memory.find(windows(10, 'a'));
    put(memory, 20, 'd');
    expect(['a', 'b', 'c', 'd'].map((key) => isKept(memory, 10, key))).toEqual([true, false, false, true]);
    used?.release();
    put(memory, 30, 'e');
    expect(isKept(memory, 10, 'a')).toBe(false);
  });

  it('takes a lease that is released twice for released once', () => {
    const memory = openMemory(30 * FLOAT_BYTES);
    put(memory, 10, 'a');
    const [first, second] = [memory.find(windows(10, 'a')), memory.find(windows(10, 'a'))];
    first?.release();
    first?.release();
    put(memory, 30, 'b');
    expect(isKept(memory, 10, 'a')).toBe(true);
    second?.release();
    put(memory, 30, 'b');
    expect(isKept(memory, 10, 'a')).toBe(false);
  });

  it('lets nothing go for what cannot fit, which has memory of its own and is not kept', () => {
    const memory = openMemory(30 * FLOAT_BYTES);
    for (const key of ['a', 'b', 'c']) put(memory, 10, key);
    const middle = memory.find(windows(10, 'b'));
    for (const floats of [20, 32]) {
      const alone = memory.lend(windows(floats, 'd'), layout);
      expect(floatsOf(alone).length).toBe(floats);
      alone.keep();
      const { parts } = alone.keyValues;
      alone.release();
      expect([isKept(memory, floats, 'd'), parts[0]?.length]).toEqual([false, 0]);
    }
    middle?.release();
    expect(['a', 'b', 'c'].map((key) => isKept(memory, 10, key))).toEqual([true, true, true]);
  });

  it('keeps what had memory of its own, once there is room', () => {
    const memory = openMemory(30 * FLOAT_BYTES);
    put(memory, 20, 'a', 'b');
    const source = memory.findWindow('a');
    const grown = memory.lend(windows(22, 'a', 'c'), layout);
    floatsOf(grown).fill(7);
    source?.document.release();
    grown.keep();
    expect([isKept(memory, 22, 'a', 'c'), isKept(memory, 20, 'a', 'b')]).toEqual([true, false]);
    expect([...floatsOf(grown)]).toEqual(Array.from({ length: 22 }, () => 7));
  });

  it('takes back the place of a document that was never finished', () => {
    const memory = openMemory(30 * FLOAT_BYTES);
    memory.lend(windows(30, 'a'), layout).release();
    expect(isKept(memory, 30, 'a')).toBe(false);
    expect(put(memory, 30, 'b')).toBe(0);
  });

  it('forgets the windows of what went, not those that a later document has too', () => {
    const memory = openMemory(30 * FLOAT_BYTES);
    put(memory, 10, 'a', 'b');
    put(memory, 20, 'a', 'c');
    isKept(memory, 20, 'a', 'c');
    put(memory, 10, 'd');
    expect(memory.findWindow('b')).toBeUndefined();
    const found = memory.findWindow('a');
    expect(found?.document.keyValues.tokens).toBe(10);
    found?.document.release();
    expect(memory.findWindow('c')?.from).toBe(9);
  });

  it('of no bytes keeps nothing and works in the same place', () => {
    const memory = openMemory(0);
    expect([put(memory, 1000, 'a'), put(memory, 2000, 'b')]).toEqual([0, 0]);
    expect([isKept(memory, 1000, 'a'), isKept(memory, 2000, 'b'), memory.findWindow('a')]).toEqual([
      false,
      false,
      undefined,
    ]);
  });

  it('lends for a moment without letting anything go', () => {
    const memory = openMemory(30 * FLOAT_BYTES);
    put(memory, 20, 'a');
    const [beside, alone] = [memory.lendBriefly(5, layout), memory.lendBriefly(1, layout)];
    expect([startOf(beside), floatsOf(alone).length]).toEqual([20, 2]);
    const { parts } = alone.keyValues;
    for (const lease of [beside, alone]) lease.release();
    expect([parts[0]?.length, isKept(memory, 20, 'a'), put(memory, 10, 'b')]).toEqual([0, true, 20]);
  });

  it('goes back to the system when the worker rests, unless something is kept there or in use', () => {
    const memory = openMemory(0);
    const document = memory.lend(windows(10, 'a'), layout);
    const { parts } = document.keyValues;
    memory.rest();
    expect(parts[0]?.length).toBe(5);
    document.release();
    memory.rest();
    expect(parts[0]?.length).toBe(0);
    expect(floatsOf(memory.lend(windows(20, 'b'), layout)).length).toBe(20);

    const keeping = openMemory(400);
    put(keeping, 10, 'a');
    keeping.rest();
    expect(isKept(keeping, 10, 'a')).toBe(true);
  });

  it('is never lent to two at a time', () => {
    const memory = openMemory(100 * FLOAT_BYTES);
    const held: Lease[] = [];
    for (let step = 0; step < 3000; step++) {
      const tokens = 1 + ((step * 7919) % 19);
      const document = memory.lend([{ key: `${(step * 31) % 90}`, tokens }], layout);
      const mine = floatsOf(document);
      for (const other of held.map(floatsOf)) {
        if (other.buffer !== mine.buffer) continue;
        const [first, second] = [mine, other].sort((a, b) => a.byteOffset - b.byteOffset);
        if (first !== undefined && second !== undefined) {
          expect(first.byteOffset + first.byteLength).toBeLessThanOrEqual(second.byteOffset);
        }
      }
      if (step % 5 !== 0) document.keep();
      if (step % 3 === 0) held.push(document);
      else document.release();
      if (held.length > 6) held.shift()?.release();
    }
  });
});

describe('a document that is not kept, between two parts of its decision', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const leave = (memory: StateMemory, key: string): Float32Array => {
    const document = memory.lend(windows(8, key), layout, { isPart: true });
    document.keep();
    document.release();
    return document.keyValues.parts[0] ?? new Float32Array();
  };

  it.each([0, 4 * FLOAT_BYTES])('is left for the next part, once, %i bytes kept', (bytes) => {
    const memory = openMemory(bytes);
    const first = leave(memory, 'a');
    const [next, again] = [memory.findLeft(windows(8, 'a')), memory.findLeft(windows(8, 'a'))];
    expect([next && startOf(next), again]).toEqual([first.byteOffset / FLOAT_BYTES, undefined]);
    vi.advanceTimersByTime(10_000);
    memory.rest();
    expect(first.length).toBe(4);
    next?.release();
    expect(memory.findLeft(windows(8, 'a'))).toBeDefined();
  });

  it('goes when another document comes in parts', () => {
    const memory = openMemory(4 * FLOAT_BYTES);
    const [first, second] = [leave(memory, 'a'), leave(memory, 'b')];
    expect([first.length, second.length]).toEqual([0, 4]);
    expect(memory.findLeft(windows(8, 'a'))).toBeUndefined();
  });

  it('goes when nobody asks for it, or the worker rests', () => {
    const memory = openMemory(4 * FLOAT_BYTES);
    const first = leave(memory, 'a');
    vi.advanceTimersByTime(1000);
    expect([first.length, memory.findLeft(windows(8, 'a'))]).toEqual([0, undefined]);
    const second = leave(memory, 'a');
    memory.rest();
    expect(second.length).toBe(0);
  });

  it('is found by no other request, and not at all when it was never finished', () => {
    const memory = openMemory(0);
    leave(memory, 'a');
    expect([isKept(memory, 8, 'a'), memory.has(windows(8, 'a')), memory.findWindow('a')]).toEqual([
      false,
      false,
      undefined,
    ]);
    memory.lend(windows(8, 'b'), layout, { isPart: true }).release();
    expect(memory.findLeft(windows(8, 'b'))).toBeUndefined();
  });
});
