import { describe, expect, it } from 'vitest';
import type { PaceClock } from '../pace.ts';
import type { WireReply } from '../server-connection.ts';
import { measureLoad } from './load-figures.ts';
import { arrivals, type LoadOutcome, runClosedLoop, runOpenLoop } from './load-run.ts';
import { sampleText, seededRandom } from './sample-texts.ts';

/** A clock that goes to the next moment somebody waits for as soon as nobody else has anything to do. */
class SimulatedClock implements PaceClock {
  #nowMs = 0;
  readonly #waiting: { readonly atMs: number; readonly wake: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  pause(delayMs: number): Promise<void> {
    return new Promise((wake) => {
      this.#waiting.push({ atMs: this.#nowMs + delayMs, wake });
    });
  }

  async runUntilDone(work: Promise<void>): Promise<void> {
    let isDone = false;
    void work.then(() => {
      isDone = true;
    });
    for (let step = 0; step < 100_000; step++) {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      if (isDone) break;
      this.#waiting.sort((a, b) => a.atMs - b.atMs);
      const next = this.#waiting.shift();
      if (next === undefined) throw new Error('Everybody waits for ever.');
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
    }
    await work;
  }
}

const ANSWER: WireReply = {
  status: 200,
  body: '{"usage":{"input_tokens":10,"output_tokens":0}}',
  headers: { 'x-umpire-cost-usd': '0.000002', 'x-umpire-cache': 'hit' },
};

/** A server that does one request after the other, each in so many milliseconds. */
function serialServer(clock: SimulatedClock, serviceMs: number, reply: WireReply = ANSWER) {
  let last = Promise.resolve();
  const post = async (): Promise<WireReply> => {
    last = last.then(() => clock.pause(serviceMs));
    await last;
    return reply;
  };
  return { post, close: async () => undefined };
}

function setUp(serviceMs: number, durationMs: number, reply?: WireReply) {
  const clock = new SimulatedClock();
  const outcomes: LoadOutcome[] = [];
  const options = {
    server: serialServer(clock, serviceMs, reply),
    next: () => ({ path: '/', body: '' }),
    clock,
    durationMs,
    onOutcome: (outcome: LoadOutcome) => outcomes.push(outcome),
    signal: new AbortController().signal,
  };
  return { clock, outcomes, options };
}

describe('an open loop', () => {
  it('counts time from the moment a request was due, however far the server is behind', async () => {
    const { clock, outcomes, options } = setUp(100, 1000);
    const due = Array.from({ length: 20 }, (_, place) => place * 50);
    await clock.runUntilDone(runOpenLoop(options, due));
    expect(outcomes.map(({ dueMs }) => dueMs)).toEqual(due);
    // The server is given twice what it can do: the last one waits for a second.
    const { latency, lateP99Ms, answered } = measureLoad(outcomes, { warmUpMs: 0, endMs: 1000 });
    expect([answered, lateP99Ms]).toEqual([20, 0]);
    expect(latency).toEqual({ p50Ms: 550, p95Ms: 1000, p99Ms: 1050, maxMs: 1050, meanMs: 575 });
  });

  it('sends as often as it was told, at random', () => {
    const times = [...arrivals(50, 100_000, seededRandom(1))];
    expect(times.length / 100).toBeCloseTo(50, 0);
    expect(times.every((time, place) => time > (times[place - 1] ?? 0))).toBe(true);
    expect([...arrivals(50, 100_000, seededRandom(1))]).toEqual(times);
  });
});

describe('a closed loop', () => {
  it('has as many requests under way as there are clients, and no more', async () => {
    const { clock, outcomes, options } = setUp(100, 1000);
    await clock.runUntilDone(runClosedLoop(options, 4));
    const { latency, answersPerSecond, costPicoUsd, cached } = measureLoad(outcomes, { warmUpMs: 400, endMs: 1000 });
    expect(latency?.p50Ms).toBe(400);
    expect(answersPerSecond).toBeCloseTo(10, 5);
    expect(cached).toBe(outcomes.filter(({ dueMs }) => dueMs >= 400).length);
    expect(costPicoUsd).toBe(BigInt(cached) * 2_000_000n);
  });

  it('waits as long as it is told when it is refused, and counts refusals by code', async () => {
    const full: WireReply = {
      status: 503,
      body: '{"error":{"code":"overloaded","message":"Full."}}',
      headers: { 'retry-after-ms': '300' },
    };
    const { clock, outcomes, options } = setUp(100, 1000, full);
    await clock.runUntilDone(runClosedLoop(options, 1));
    expect(outcomes.map(({ dueMs }) => dueMs)).toEqual([0, 400, 800]);
    const { refusals, latency } = measureLoad(outcomes, { warmUpMs: 0, endMs: 1000 });
    expect(refusals).toEqual([{ code: 'overloaded', requests: 3 }]);
    expect(latency).toBeUndefined();
  });
});

describe('the figures of a load', () => {
  it('leave out what was due in the warm-up, and slice up the rest', () => {
    const base = { status: 200, code: '', inputTokens: 10, outputTokens: 5, costUsd: '', isCached: false };
    const outcomes = Array.from({ length: 100 }, (_, place) => ({
      ...base,
      dueMs: place * 10,
      sentMs: place * 10 + 1,
      endMs: place * 10 + 10,
    }));
    const figures = measureLoad(outcomes, { warmUpMs: 500, endMs: 1000 });
    expect(figures).toMatchObject({
      requests: 50,
      answersPerSecond: 100,
      inputTokensPerSecond: 1000,
      outputTokensPerSecond: 500,
      lateP99Ms: 1,
    });
    expect(figures.slices).toHaveLength(40);
    expect(figures.slices[7]?.p95Ms).toBe(10);
  });
});

describe('a sample text', () => {
  it('has the words it should, and is another one every time', () => {
    const random = seededRandom(7);
    const [one, other] = [sampleText(120, random), sampleText(120, random)];
    expect(one.split(' ')).toHaveLength(120);
    expect(one).not.toBe(other);
  });
});
