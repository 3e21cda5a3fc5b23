// Eight clients that ask one thing after the other, of all lengths, on a clock moved by hand: shortest-first is for the many,
// and the few long ones must not pay for it without end. Beside it, the same work in the order it comes.

import { expect, it } from 'vitest';
import type { DecideJob } from '../../src/engine/engine.ts';
import { RandomSource } from '../models/random-source.ts';
import { decisionMs, simulate, simulatedJob } from './simulated-engine.ts';

const CLIENTS = 8;
const WORKERS = 2;
const CALLS = 1500;
/** Cumulative shares of questions in a call. */
const QUESTIONS: readonly (readonly [share: number, questions: number])[] = [
  [0.6, 1],
  [0.8, 2],
  [0.95, 4],
  [1, 8],
];

/** 32 to 2,048 tokens, even by logarithm. */
function makeJobs(random: RandomSource): DecideJob[] {
  return Array.from({ length: CALLS }, () => {
    const drawn = random.next();
    const questions = QUESTIONS.find(([share]) => drawn < share)?.[1] ?? 1;
    return simulatedJob(Math.round(32 * 64 ** random.next()), questions);
  });
}

async function servedMs(jobs: readonly DecideJob[]): Promise<number[]> {
  const { engine, clock, runUntil } = await simulate(new RandomSource(9), {
    workers: WORKERS,
    queueDeadlineMs: 60_000,
  });
  const next = jobs.values();
  const tookMs: number[] = [];
  let working = CLIENTS;
  const askAll = async (): Promise<void> => {
    for (const job of next) {
      const startedMs = clock.nowMs();
      await engine.ticketFor(job, { keyId: 'key', signal: new AbortController().signal }).run();
      tookMs.push(clock.nowMs() - startedMs);
    }
    working -= 1;
  };
  const clients = Array.from({ length: CLIENTS }, askAll);
  while (working > 0) await runUntil(clock.nowMs() + 100);
  await Promise.all(clients);
  return tookMs;
}

/** The same clients before a queue of no mind. */
function inOrderMs(jobs: readonly DecideJob[]): number[] {
  const freeAtMs = new Array<number>(WORKERS).fill(0);
  const askedAtMs = new Array<number>(CLIENTS).fill(0);
  return jobs.map((job) => {
    const askedMs = Math.min(...askedAtMs);
    const startMs = Math.max(askedMs, Math.min(...freeAtMs));
    const endMs = startMs + decisionMs(job);
    freeAtMs[freeAtMs.indexOf(Math.min(...freeAtMs))] = endMs;
    askedAtMs[askedAtMs.indexOf(askedMs)] = endMs;
    return endMs - askedMs;
  });
}

function percentile(valuesMs: readonly number[], share: number): number {
  return valuesMs.toSorted((a, b) => a - b)[Math.floor(valuesMs.length * share)] ?? NaN;
}

it('half of all calls end far sooner than in the order they come, and the slowest not much later', async () => {
  const jobs = makeJobs(new RandomSource(5));
  const [served, inOrder] = [await servedMs(jobs), inOrderMs(jobs)];
  expect(served).toHaveLength(CALLS);
  const ratioAt = (share: number): number => percentile(served, share) / percentile(inOrder, share);
  expect(ratioAt(0.5)).toBeLessThan(0.7);
  expect(ratioAt(0.99)).toBeLessThan(1.4);
});

it('calls of one length end in nearly the same time', async () => {
  const random = new RandomSource(6);
  const tookMs = await servedMs(
    Array.from({ length: CALLS }, () => simulatedJob(120 + Math.round(16 * random.next()))),
  );
  expect(percentile(tookMs, 0.99) / percentile(tookMs, 0.5)).toBeLessThan(1.3);
});
