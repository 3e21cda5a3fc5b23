import { describe, expect, it } from 'vitest';
import type { WindowKey } from '../../messages.ts';
import { type KeptDocument, StateCache } from './state-cache.ts';

const FLOAT_BYTES = 4;
const windows = (...keys: string[]): WindowKey[] => keys.map((key) => ({ key, tokens: 2 }));

function put(cache: StateCache, floats: number, ...keys: string[]): KeptDocument {
  const document = cache.reserve(windows(...keys), floats);
  if (document === undefined) throw new Error('no room');
  cache.keep(document);
  cache.release(document);
  return document;
}

function isKept(cache: StateCache, ...keys: string[]): boolean {
  const found = cache.find(windows(...keys));
  if (found !== undefined) cache.release(found);
  return found !== undefined;
}

const startOf = ({ memory }: KeptDocument): number => memory.byteOffset / FLOAT_BYTES;

describe('the state cache', () => {
  it('finds a document by its windows, with what was written', () => {
    const cache = new StateCache(400);
    put(cache, 10, 'a', 'b').memory.fill(7);
    put(cache, 10, 'b', 'a').memory.fill(8);
    expect([...(cache.find(windows('a', 'b'))?.memory ?? [])]).toEqual(Array.from({ length: 10 }, () => 7));
    expect(isKept(cache, 'a')).toBe(false);
  });

  it('finds a window in the document that holds it', () => {
    const cache = new StateCache(400);
    const document = put(cache, 10, 'a', 'b');
    expect(cache.findWindow('b')).toMatchObject({ document: { memory: document.memory }, from: 2 });
    expect(cache.findWindow('c')).toBeUndefined();
  });

  it('lets the least recently used go', () => {
    const cache = new StateCache(30 * FLOAT_BYTES);
    for (const key of ['a', 'b', 'c']) put(cache, 10, key);
    expect(isKept(cache, 'a')).toBe(true);
    put(cache, 10, 'd');
    expect(['a', 'b', 'c', 'd'].map((key) => isKept(cache, key))).toEqual([true, false, true, true]);
  });

  it('lets as many go as a large one needs side by side', () => {
    const cache = new StateCache(40 * FLOAT_BYTES);
    for (const key of ['a', 'b', 'c', 'd']) put(cache, 10, key);
    isKept(cache, 'b');
    expect(startOf(put(cache, 20, 'e'))).toBe(20);
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => isKept(cache, key))).toEqual([false, true, false, false, true]);
  });

  it('never lets go of what is in use', () => {
    const cache = new StateCache(30 * FLOAT_BYTES);
    for (const key of ['a', 'b', 'c']) put(cache, 10, key);
    const used = cache.find(windows('a'));
    put(cache, 20, 'd');
    expect(['a', 'b', 'c', 'd'].map((key) => isKept(cache, key))).toEqual([true, false, false, true]);
    if (used !== undefined) cache.release(used);
    put(cache, 30, 'e');
    expect(isKept(cache, 'a')).toBe(false);
  });

  it('lets nothing go for what cannot fit', () => {
    const cache = new StateCache(30 * FLOAT_BYTES);
    for (const key of ['a', 'b', 'c']) put(cache, 10, key);
    const middle = cache.find(windows('b'));
    expect(cache.reserve(windows('d'), 20)).toBeUndefined();
    expect(cache.reserve(windows('d'), 31)).toBeUndefined();
    if (middle !== undefined) cache.release(middle);
    expect(['a', 'b', 'c'].map((key) => isKept(cache, key))).toEqual([true, true, true]);
  });

  it('takes back the place of a document that was never finished', () => {
    const cache = new StateCache(30 * FLOAT_BYTES);
    const failed = cache.reserve(windows('a'), 30);
    if (failed !== undefined) cache.release(failed);
    expect(isKept(cache, 'a')).toBe(false);
    expect(startOf(put(cache, 30, 'b'))).toBe(0);
  });

  it('forgets the windows of what went, not those that a later document has too', () => {
    const cache = new StateCache(30 * FLOAT_BYTES);
    put(cache, 10, 'a', 'b');
    put(cache, 20, 'a', 'c');
    isKept(cache, 'a', 'c');
    put(cache, 10, 'd');
    expect(cache.findWindow('b')).toBeUndefined();
    expect(cache.findWindow('a')?.document.windows).toEqual(windows('a', 'c'));
  });

  it('of no bytes keeps nothing and works in the same place', () => {
    const cache = new StateCache(0);
    expect([startOf(put(cache, 1000, 'a')), startOf(put(cache, 2000, 'b'))]).toEqual([0, 0]);
    expect([isKept(cache, 'a'), isKept(cache, 'b'), cache.findWindow('a')]).toEqual([false, false, undefined]);
  });

  it('gives its memory back when it is cleared, unless some of it is in use', () => {
    const cache = new StateCache(400);
    const document = put(cache, 10, 'a');
    const used = cache.find(windows('a'));
    cache.clear();
    expect([isKept(cache, 'a'), used?.memory.length]).toEqual([false, 10]);
    if (used !== undefined) cache.release(used);
    cache.clear();
    expect(document.memory.length).toBe(0);
    expect(put(cache, 20, 'b').memory.length).toBe(20);
  });

  it('never gives two documents the same memory', () => {
    const cache = new StateCache(100 * FLOAT_BYTES);
    const held: KeptDocument[] = [];
    for (let step = 0; step < 3000; step++) {
      const size = 1 + ((step * 7919) % 37);
      const document = cache.reserve(windows(`${(step * 31) % 90}`, `${size}`), size);
      if (document === undefined) {
        const oldest = held.shift();
        if (oldest !== undefined) cache.release(oldest);
        continue;
      }
      for (const other of held) {
        const [first, second] = [document, other].sort((a, b) => startOf(a) - startOf(b));
        if (first !== undefined && second !== undefined) {
          expect(startOf(first) + first.memory.length).toBeLessThanOrEqual(startOf(second));
        }
      }
      if (step % 5 !== 0) cache.keep(document);
      if (step % 3 === 0) held.push(document);
      else cache.release(document);
    }
  });
});
