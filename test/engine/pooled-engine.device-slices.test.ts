// A decision of many questions about a long document on a device, in simulation: it comes in slices, and others wait for one of them.

import { describe, expect, it } from 'vitest';
import type { DecideJob, DecideResult } from '../../src/engine/engine.ts';
import { decisionsOf, openOnDevice } from './device-pool.ts';
import { ManualClock } from './manual-clock.ts';
import { settle } from './manual-pool.ts';
import { simulatedJob } from './simulated-engine.ts';

/** Of a run; the default. */
const TOKENS = 16_384;
const QUESTIONS = 64;

async function setUp({ exact = false, tokens = TOKENS } = {}) {
  const clock = new ManualClock();
  const { pool, engine } = await openOnDevice(clock, { tokens, exact });
  const decide = (job: DecideJob, keyId: string): Promise<DecideResult> =>
    engine.ticketFor(job, { keyId, signal: new AbortController().signal }).run();
  const finishAll = async (): Promise<void> => {
    while (clock.timerCount > 0) {
      clock.advance((clock.nextTimerMs ?? clock.nowMs() + 1) - clock.nowMs());
      await settle();
    }
  };
  return { clock, pool, decide, finishAll };
}

/** Short decisions every 5 ms beside huge ones every 400 ms, for two seconds. */
async function askBeside(tokens: number) {
  const { clock, decide, finishAll } = await setUp({ tokens });
  const tookMs = { short: [] as number[], huge: [] as number[] };
  const ask = (kind: keyof typeof tookMs, job: DecideJob) => {
    const startedMs = clock.nowMs();
    void decide(job, kind).then(() => tookMs[kind].push(clock.nowMs() - startedMs));
  };
  for (let atMs = 0; atMs < 2000; atMs += 5) clock.after(atMs, () => ask('short', simulatedJob(60 + (atMs % 70))));
  for (let atMs = 1; atMs < 2000; atMs += 400) clock.after(atMs, () => ask('huge', simulatedJob(8000, QUESTIONS)));
  await finishAll();
  const figuresOf = (kind: keyof typeof tookMs) => {
    const sorted = tookMs[kind].sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? Infinity;
    return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) };
  };
  return { short: figuresOf('short'), huge: figuresOf('huge') };
}

describe('a decision of many questions about a long document', () => {
  // One slice of 21 ms may be before a short one, and in its own run another. As one task it delayed them by 93 ms and 4.8 s.
  it.each([
    { tokens: TOKENS, shortMs: 60, hugeMs: 130 },
    { tokens: TOKENS / 2, shortMs: 40, hugeMs: 260 },
  ])('delays others by a slice, in runs of $tokens tokens', async ({ tokens, shortMs, hugeMs }) => {
    const { short, huge } = await askBeside(tokens);
    expect([short.count, huge.count]).toEqual([400, 5]);
    expect(short.mostMs).toBeLessThan(shortMs);
    expect(huge.mostMs).toBeLessThan(hugeMs);
  });

  it('is read once for each slice and not for each question, where the document alone fills a run', async () => {
    const { pool, decide, finishAll } = await setUp({ tokens: 4096 });
    const decided = decide(simulatedJob(8000, QUESTIONS), 'key');
    await finishAll();
    expect((await decided).answers).toHaveLength(QUESTIONS);
    // Four rows beside so many keys.
    expect(pool.runs).toBe(QUESTIONS / 4);
    expect(pool.tasks.length).toBeGreaterThan(QUESTIONS / 8);
  });

  it('bills its document once, and answers its questions in their order', async () => {
    const { pool, decide, finishAll } = await setUp();
    const job = simulatedJob(8000, QUESTIONS);
    const named = job.questions.map((question, place) => ({ ...question, instructions: `question ${place}` }));
    const decided = decide({ ...job, questions: named }, 'key');
    await finishAll();
    expect((await decided).inputTokens).toBe(8000 + 30 * QUESTIONS);
    const asked = pool.tasks.flatMap(decisionsOf).flatMap(({ questions }) => questions);
    expect(asked.map(({ instructions }) => instructions)).toEqual(named.map(({ instructions }) => instructions));
  });

  it('comes in slices where each question has a run of its own, too', async () => {
    const { pool, decide, finishAll } = await setUp({ exact: true });
    const decided = decide(simulatedJob(4000, 16), 'key');
    await finishAll();
    const { answers, isBatched } = await decided;
    expect([answers.length, isBatched, pool.tasks.length]).toEqual([16, undefined, 4]);
  });

  it('is one task where it fits into a run', async () => {
    const { pool, decide, finishAll } = await setUp();
    const decided = decide(simulatedJob(300, QUESTIONS), 'key');
    await finishAll();
    expect((await decided).answers).toHaveLength(QUESTIONS);
    expect([pool.tasks.length, pool.runs]).toEqual([1, 1]);
  });
});
