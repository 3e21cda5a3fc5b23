// One call of more work than the queue holds, beside short calls of other keys: they are let in, and wait for one slice of
// it at most. On a clock moved by hand.

import { describe, expect, it } from 'vitest';
import type { AppError } from '../../src/domain/errors.ts';
import type { Caller } from '../../src/engine/engine.ts';
import { RandomSource } from '../models/random-source.ts';
import { decisionMs, refusalOf, type Simulation, simulate, simulatedChoice, simulatedJob } from './simulated-engine.ts';

/** 8,000 tokens of document and 31,000 of questions: more than a minute on one worker. */
const GIANT = simulatedJob(8000, 1030);
/** The same of one question: 255 options of 120 tokens. */
const WIDE = simulatedChoice(8000, 255, 120);
const SHORT = simulatedJob(60);
/** One question about such a document: a slice cannot be shorter. Up to 15 % longer than expected. */
const SLICE_MS = 80;
/** Where a worker cannot keep the document, a slice is longer, for each puts it together anew. */
const JOINING_SLICE_MS = 2 * SLICE_MS;
/** A run cannot be cut: beside so many keys it takes 124 tokens of the one question. */
const RUN_MS = (1.15 * decisionMs(WIDE)) / 249;
const KEEPING = { stateCacheBytes: 10_000_000, sliceMs: SLICE_MS, giant: undefined };
const JOINING = { stateCacheBytes: 0, sliceMs: JOINING_SLICE_MS, giant: undefined };

const callerOf = (keyId: string): Caller => ({ keyId, signal: new AbortController().signal });

const WIDE_KEEPING = { ...KEEPING, sliceMs: RUN_MS, giant: WIDE };
const WIDE_JOINING = { ...JOINING, sliceMs: RUN_MS, giant: WIDE };

/** How long a short call took; undefined: it was refused, and told to come back then. */
async function ask({ engine, clock, runUntil }: Simulation, keyId: string) {
  const startedMs = clock.nowMs();
  let told: { tookMs: number } | { retryAfterMs: number | undefined } | undefined;
  engine
    .ticketFor(SHORT, callerOf(keyId))
    .run()
    .then(
      () => {
        told = { tookMs: clock.nowMs() - startedMs };
      },
      (error: AppError) => {
        told = { retryAfterMs: error.retryAfterMs };
      },
    );
  while (told === undefined) await runUntil(clock.nowMs() + 1);
  return told;
}

async function beginGiants(simulation: Simulation, keyIds: readonly string[], giant = GIANT) {
  const { engine, clock, runUntil } = simulation;
  const refused: unknown[] = [];
  const done = [];
  for (const keyId of keyIds) {
    const call = engine.ticketFor(giant, callerOf(keyId)).run();
    call.catch((error: unknown) => refused.push(error));
    done.push(call);
    await runUntil(clock.nowMs() + 300);
  }
  expect(refused).toEqual([]);
  return done;
}

describe('a call of more work than the queue holds', () => {
  it('is what it is meant to be', () => {
    expect(decisionMs(GIANT)).toBeGreaterThan(60_000);
    expect(decisionMs(WIDE)).toBeGreaterThan(60_000);
  });

  it.each([
    ['one worker, one such call', 1, ['a'], KEEPING],
    ['one worker, one such call of one question', 1, ['a'], WIDE_KEEPING],
    ['two workers, two of one question', 2, ['a', 'b'], WIDE_KEEPING],
    ['one worker that cannot keep the document, one of one question', 1, ['a'], WIDE_JOINING],
    ['two workers, one such call', 2, ['a'], KEEPING],
    ['two workers, five such calls of five keys', 2, ['a', 'b', 'c', 'd', 'e'], KEEPING],
    ['two workers, two such calls of one key', 2, ['a', 'a'], KEEPING],
    ['one worker that cannot keep the document', 1, ['a'], JOINING],
    ['two workers that cannot, five such calls', 2, ['a', 'b', 'c', 'd', 'e'], JOINING],
  ] as const)('delays a short call of another key by a slice at most: %s', async (_name, workers, keyIds, keeping) => {
    const { sliceMs, stateCacheBytes, giant } = keeping;
    const random = new RandomSource(17);
    const simulation = await simulate(random, { workers, stateCacheBytes });
    const { engine, clock, runUntil } = simulation;
    const giants = await beginGiants(simulation, keyIds, giant);
    for (let call = 0; call < 100; call++) {
      // From far less than a slice to several, so that every moment of one is met.
      await runUntil(clock.nowMs() + 400 * random.next());
      const told = await ask(simulation, 'short');
      expect(told).toEqual({ tookMs: expect.any(Number) });
      if ('tookMs' in told) expect(told.tookMs).toBeLessThan(sliceMs + 2 * decisionMs(SHORT));
    }
    expect(engine.status().queuedCostMs).toBeGreaterThan(20_000);
    await runUntil(clock.nowMs() + 60_000 * keyIds.length * 2);
    await Promise.all(giants);
  });

  it('leaves its own key room for short ones', async () => {
    const simulation = await simulate(new RandomSource(18), { workers: 1 });
    const giants = await beginGiants(simulation, ['a']);
    expect(await ask(simulation, 'a')).toEqual({ tookMs: expect.any(Number) });
    await simulation.runUntil(300_000);
    await Promise.all(giants);
  });

  it('is refused to a key that has two of them waiting, until there is room, which is when it is told to come back', async () => {
    const simulation = await simulate(new RandomSource(19), { workers: 2 });
    const { engine, clock, runUntil } = simulation;
    const giants = await beginGiants(simulation, ['a', 'a']);
    const refusal = refusalOf(engine, GIANT, 'a');
    expect(refusal).toMatchObject({ code: 'overloaded' });
    const { retryAfterMs = 0 } = refusal ?? {};
    await runUntil(clock.nowMs() + retryAfterMs / 2);
    expect(refusalOf(engine, GIANT, 'a')).toBeDefined();
    await runUntil(clock.nowMs() + 0.7 * retryAfterMs);
    expect(refusalOf(engine, GIANT, 'a')).toBeUndefined();
    expect(refusalOf(engine, GIANT, 'b')).toBeUndefined();
    await runUntil(600_000);
    await Promise.all(giants);
  });
});

describe('a queue that is full of one key', () => {
  it('tells it its own wait, and lets another key in at once', async () => {
    const simulation = await simulate(new RandomSource(20), { workers: 2, queueDeadlineMs: 3_600_000 });
    const { engine, clock, runUntil } = simulation;
    const refused: AppError[] = [];
    for (let call = 0; call < 5000 && refused.length === 0; call++) {
      engine
        .ticketFor(simulatedJob(500), callerOf('a'))
        .run()
        .catch((error: AppError) => refused.push(error));
      await runUntil(clock.nowMs());
    }
    const [refusal] = refused;
    expect(refusal?.code).toBe('overloaded');
    // Half of the queue is its own: some 30 s of work for two workers.
    expect(refusal?.retryAfterMs).toBeGreaterThan(12_000);
    expect(refusal?.retryAfterMs).toBeLessThan(18_000);
    expect(await ask(simulation, 'b')).toEqual({ tookMs: expect.any(Number) });
    const fullMs = clock.nowMs();
    await runUntil(fullMs + (refusal?.retryAfterMs ?? 0));
    expect(refusalOf(engine, simulatedJob(500), 'a')).toBeUndefined();
    await runUntil(fullMs + 60_000);
  });
});
