import { describe, expect, it } from 'vitest';
import { Pace, type PaceClock, type PaceNews, type PacePass } from './pace.ts';

const answered = (queueShare?: number): PaceNews => ({ type: 'answered', queueShare });

/** A clock that jumps to the end of whatever is waited for. */
function jumpingClock(): PaceClock & { readonly pauses: number[] } {
  let nowMs = 0;
  const pauses: number[] = [];
  return {
    pauses,
    nowMs: () => nowMs,
    pause: async (delayMs) => {
      pauses.push(delayMs);
      nowMs += delayMs;
    },
  };
}

function paceAtMost(atMost: number) {
  const clock = jumpingClock();
  const pace = new Pace(atMost, clock, () => 0);
  /** As many as it lets go at once. */
  async function fill(): Promise<PacePass[]> {
    const passes: PacePass[] = [];
    const stopped = AbortSignal.abort();
    for (let tries = 0; tries <= atMost; tries++) {
      const stop = new AbortController();
      const entered = pace.enter(stop.signal);
      // Whoever is not let in within a few turns must wait.
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      stop.abort(stopped.reason);
      const pass = await entered.catch(() => undefined);
      if (pass === undefined) break;
      passes.push(pass);
    }
    return passes;
  }
  async function answerRounds(rounds: number, news: PaceNews): Promise<number> {
    for (let round = 0; round < rounds; round++) for (const pass of await fill()) pace.leave(pass, news);
    const passes = await fill();
    for (const pass of passes) pace.leave(pass, { type: 'other' });
    return passes.length;
  }
  return { pace, clock, fill, answerRounds };
}

describe('the pace of requests', () => {
  it('begins with two and doubles while nothing waits in the server', async () => {
    const { answerRounds } = paceAtMost(64);
    expect(await answerRounds(0, answered(0))).toBe(2);
    expect(await answerRounds(1, answered(0))).toBe(4);
    expect(await answerRounds(2, answered(0))).toBe(16);
  });

  it('never has more under way than it may', async () => {
    expect(await paceAtMost(5).answerRounds(20, answered(0))).toBe(5);
  });

  it('stays where the server has a short queue', async () => {
    const { answerRounds } = paceAtMost(64);
    await answerRounds(1, answered(0));
    expect(await answerRounds(10, answered(0.5))).toBe(4);
  });

  it('goes back to one where requests only wait', async () => {
    const { answerRounds } = paceAtMost(64);
    await answerRounds(3, answered(0));
    expect(await answerRounds(200, answered(0.95))).toBe(1);
  });

  it('grows up to what it may where the server says nothing of its queue', async () => {
    expect(await paceAtMost(12).answerRounds(10, answered())).toBe(12);
  });

  it('waits as long as it is told, sends one request first and has half as many under way then', async () => {
    const { pace, clock, fill, answerRounds } = paceAtMost(64);
    await answerRounds(2, answered(0));
    const passes = await fill();
    expect(passes).toHaveLength(8);
    // All of them were sent before the first refusal, so they count as one.
    for (const pass of passes) pace.leave(pass, { type: 'refused', waitMs: 7000 });
    expect(clock.pauses).toEqual([]);
    const [first, ...more] = await fill();
    expect(clock.pauses).toEqual([7000]);
    expect(more).toEqual([]);
    if (first !== undefined) pace.leave(first, answered(0.5));
    expect(await fill()).toHaveLength(4);
  });

  it('lets nobody wait who is told to stop', async () => {
    const { pace, fill } = paceAtMost(2);
    await fill();
    const stop = new AbortController();
    const waiting = pace.enter(stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});
