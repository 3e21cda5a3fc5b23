import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { restWhenIdle } from './rest-when-idle.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('a worker that has nothing to do', () => {
  it('rests once after its load, and once after its tasks', async () => {
    const rest = vi.fn();
    const perform = restWhenIdle(async (task: number) => task + 1, rest);
    vi.advanceTimersByTime(10_000);
    expect(rest).toHaveBeenCalledTimes(1);
    for (let task = 0; task < 5; task++) {
      expect(await perform(task)).toBe(task + 1);
      vi.advanceTimersByTime(900);
    }
    expect(rest).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(10_000);
    expect(rest).toHaveBeenCalledTimes(2);
  });

  it('never rests inside a task, however long that takes', async () => {
    const rest = vi.fn();
    let end = (_reply: string) => {};
    const perform = restWhenIdle(() => new Promise<string>((resolve) => (end = resolve)), rest);
    const reply = perform('long');
    vi.advanceTimersByTime(60_000);
    expect(rest).not.toHaveBeenCalled();
    end('done');
    expect(await reply).toBe('done');
    vi.advanceTimersByTime(1000);
    expect(rest).toHaveBeenCalledTimes(1);
  });

  it('rests after a task that failed, too', async () => {
    const rest = vi.fn();
    const perform = restWhenIdle(() => Promise.reject(new Error('no')), rest);
    await expect(perform('task')).rejects.toThrow('no');
    vi.advanceTimersByTime(1000);
    expect(rest).toHaveBeenCalledTimes(1);
  });
});
