// More calls than the workers can do, on a clock moved by hand: what is let in is answered in time, what is not is told at
// once, and the time it is told to come back at is a true one.

import { describe, expect, it } from 'vitest';
import type { AppError } from '../../src/domain/errors.ts';
import type { Caller, DecideJob } from '../../src/engine/engine.ts';
import { RandomSource } from '../models/random-source.ts';
import { decisionMs, type Simulation, simulate, simulatedJob } from './simulated-engine.ts';

const DEADLINE_MS = 200;

interface Outcome {
  readonly costMs: number;
  readonly tookMs: number;
  readonly isAnswered: boolean;
  readonly retryAfterMs: number | undefined;
}

function callerOf(changes: Partial<Caller> = {}): Caller {
  return { keyId: 'key', signal: new AbortController().signal, ...changes };
}

/** Offers jobs at random moments (Poisson) for a time, `load` times what the workers can do. */
async function offer(
  { engine, clock, runUntil }: Simulation,
  { random, jobs, load, forMs, deadlineMs }: Offer,
): Promise<Outcome[]> {
  const meanMs = jobs.reduce((sum, job) => sum + decisionMs(job), 0) / jobs.length;
  const everyMs = meanMs / (load * engine.status().workers);
  const outcomes: Outcome[] = [];
  const untilMs = clock.nowMs() + forMs;
  for (let atMs = clock.nowMs(); atMs < untilMs; atMs += -Math.log(1 - random.next()) * everyMs) {
    await runUntil(atMs);
    const job = random.pick(jobs);
    const submittedMs = clock.nowMs();
    const settle = (isAnswered: boolean, retryAfterMs?: number) => {
      outcomes.push({ costMs: decisionMs(job), tookMs: clock.nowMs() - submittedMs, isAnswered, retryAfterMs });
    };
    engine
      .ticketFor(job, callerOf({ deadlineMs }))
      .run()
      .then(
        () => settle(true),
        (error: AppError) => settle(false, error.retryAfterMs),
      );
    // A refusal is told before any time has passed.
    await runUntil(submittedMs);
  }
  await runUntil(untilMs + 20_000);
  return outcomes;
}

interface Offer {
  readonly random: RandomSource;
  readonly jobs: readonly DecideJob[];
  readonly load: number;
  readonly forMs: number;
  readonly deadlineMs?: number;
}

function sumCosts(outcomes: readonly Outcome[]): number {
  return outcomes.reduce((sum, { costMs }) => sum + costMs, 0);
}

describe('twice the load the workers can do', () => {
  it.each([
    ['short decisions', [simulatedJob(128)]],
    ['decisions of several lengths', [simulatedJob(64), simulatedJob(128), simulatedJob(500)]],
  ])('loses less than a tenth of what could be done in time: %s', async (_, jobs) => {
    const random = new RandomSource(11);
    const simulation = await simulate(random);
    const forMs = 30_000;
    const outcomes = await offer(simulation, { random, jobs, load: 2, forMs, deadlineMs: DEADLINE_MS });
    const answered = outcomes.filter(({ isAnswered }) => isAnswered);
    const inTime = answered.filter(({ tookMs }) => tookMs <= DEADLINE_MS);
    const refused = outcomes.filter(({ isAnswered }) => !isAnswered);
    const goodput = sumCosts(inTime) / (forMs * 2);
    const latestMs = Math.max(...answered.map(({ tookMs }) => tookMs));
    expect(goodput).toBeGreaterThan(0.9);
    expect(latestMs).toBeLessThan(1.25 * DEADLINE_MS);
    expect(refused.length).toBeGreaterThan(answered.length / 5);
    expect(Math.max(...refused.map(({ tookMs }) => tookMs))).toBe(0);
  });

  it('is told when to come back, and is let in then', async () => {
    const random = new RandomSource(12);
    const simulation = await simulate(random);
    const { engine, clock, runUntil } = simulation;
    const job = simulatedJob(128);
    let told = 0;
    for (let round = 0; round < 20; round++) {
      const calls: Promise<unknown>[] = [];
      const enter = (): AppError | undefined => {
        const ticket = engine.ticketFor(job, callerOf({ deadlineMs: DEADLINE_MS }));
        try {
          ticket.enter();
        } catch (error) {
          return error as AppError;
        }
        calls.push(ticket.run());
        return undefined;
      };
      let refusal = enter();
      while (refusal === undefined) {
        await runUntil(clock.nowMs() + 3);
        refusal = enter();
      }
      const { retryAfterMs = Infinity } = refusal;
      // The load ends here: nothing but what was let in is left to do.
      expect(retryAfterMs).toBeLessThan(1.5 * DEADLINE_MS);
      await runUntil(clock.nowMs() + retryAfterMs);
      if (enter() === undefined) told += 1;
      await runUntil(clock.nowMs() + 1000);
      await Promise.all(calls);
    }
    expect(told).toBe(20);
  });
});

describe('one large decision alone', () => {
  it('keeps both workers at work to its end', async () => {
    const simulation = await simulate(new RandomSource(14));
    const { engine, pool, clock, runUntil } = simulation;
    const job = simulatedJob(4000, 8);
    for (let round = 0; round < 5; round++) {
      const [startedMs, busyMs] = [clock.nowMs(), pool.busyMs];
      let endedMs = 0;
      const done = engine
        .ticketFor(job, callerOf())
        .run()
        .then(() => {
          endedMs = clock.nowMs();
        });
      await runUntil(startedMs + 2000);
      await done;
      const share = (pool.busyMs - busyMs) / 2 / (endedMs - startedMs);
      expect(share).toBeGreaterThan(0.93);
    }
  });
});

describe('a mix of documents and short decisions', () => {
  it('keeps short ones short at 70 % load, and documents still end', async () => {
    const random = new RandomSource(13);
    const simulation = await simulate(random);
    const short = simulatedJob(128);
    const jobs = [...new Array<DecideJob>(19).fill(short), simulatedJob(4000, 4)];
    const outcomes = await offer(simulation, { random, jobs, load: 0.7, forMs: 60_000 });
    expect(outcomes.every(({ isAnswered }) => isAnswered)).toBe(true);
    const took = (costMs: number) =>
      outcomes
        .filter((each) => each.costMs === costMs)
        .map(({ tookMs }) => tookMs)
        .sort((a, b) => a - b);
    const quantile = (values: readonly number[], share: number) => values[Math.floor(values.length * share)] ?? 0;
    const [shorts, documents] = [took(decisionMs(short)), took(decisionMs(simulatedJob(4000, 4)))];
    expect(quantile(shorts, 0.99)).toBeLessThan(150);
    expect(quantile(documents, 0.99)).toBeLessThan(8 * decisionMs(simulatedJob(4000, 4)));
  });
});
