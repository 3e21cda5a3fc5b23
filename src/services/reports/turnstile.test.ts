import { describe, expect, it } from 'vitest';
import { Turnstile } from './turnstile.ts';

/** Work that ends when it is told to, and notes that it began. */
function heldWork(begun: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const work = (): Promise<string> => {
    begun.push(name);
    return promise;
  };
  return { work, end: () => resolve(name), fail: () => reject(new Error(name)) };
}

describe('a turnstile', () => {
  it('lets so many run at a time, the others in the order they came', async () => {
    const begun: string[] = [];
    const turnstile = new Turnstile({ maxRunning: 2, maxWaiting: 9 });
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => heldWork(begun, name));
    if (!(a && b && c && d)) throw new Error('There are four.');
    const results = [a, b, c, d].map(({ work }) => turnstile.pass(work));
    expect(begun).toEqual(['a', 'b']);
    b.end();
    await results[1];
    expect(begun).toEqual(['a', 'b', 'c']);
    a.fail();
    await expect(results[0]).rejects.toThrow('a');
    c.end();
    d.end();
    expect(await Promise.all(results.slice(2))).toEqual(['c', 'd']);
    expect(await turnstile.pass(async () => 'again')).toBe('again');
  });

  it('refuses those who would wait behind too many', async () => {
    const begun: string[] = [];
    const turnstile = new Turnstile({ maxRunning: 1, maxWaiting: 1 });
    const held = heldWork(begun, 'first');
    const first = turnstile.pass(held.work);
    const second = turnstile.pass(async () => 'second');
    await expect(turnstile.pass(async () => 'third')).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 1000 });
    held.end();
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  });
});
