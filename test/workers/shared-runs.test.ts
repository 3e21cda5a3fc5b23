// Runs that callers share, by real workers on the CPU in full precision, which is how it goes on a device: the answers of each are
// what it has alone, within the tolerance; and with `exact` they are the same to the bit.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbedJob, EmbedResult } from '../../src/engine/engine.ts';
import type { LocalEngine } from '../../src/engine/local-engine.ts';
import { type Engines, expectAlike, expectSame, openEngines, textOf } from './shared-runs.ts';
import { caller, tinyEmbedding } from './tiny-engine.ts';

const jobs = Array.from({ length: 80 }, (_, place): EmbedJob => {
  const inputs = Array.from({ length: 1 + (place % 3) }, (__, at) => textOf(place * 3 + at));
  return { modelId: 'tiny-embedding', inputs, dimensions: undefined, encoding: 'float' };
});

function numbersOf({ embeddings }: EmbedResult): number[] {
  return embeddings.flatMap((vector) => (typeof vector === 'string' ? [] : [...vector]));
}

let engines: Engines;

beforeAll(async () => {
  engines = await openEngines({ modelFolders: [tinyEmbedding], workers: 3 });
});

afterAll(() => engines.close());

function ask(engine: LocalEngine, job: EmbedJob, place: number): Promise<EmbedResult> {
  return engine.ticketFor(job, { ...caller, keyId: `key-${place % 5}` }).run();
}

describe('texts of many callers', () => {
  it('have the vectors that each has alone', async () => {
    const expected = await Promise.all(jobs.map((job, place) => ask(engines.alone, job, place)));
    const found = await Promise.all(jobs.map((job, place) => ask(engines.shared, job, place)));
    expect(engines.warnings).toEqual([]);
    expectAlike(found, expected, numbersOf);
  });

  it('have the same bits as alone where answers must be exact', async () => {
    const expected = await Promise.all(jobs.map((job, place) => ask(engines.alone, job, place)));
    const found = await Promise.all(jobs.map((job, place) => ask(engines.exact, job, place)));
    expectSame(found, expected, numbersOf);
  });

  it('are refused one by one: a text that is too long fails its own call', async () => {
    const long: EmbedJob = {
      modelId: 'tiny-embedding',
      inputs: ['late '.repeat(2000)],
      dimensions: undefined,
      encoding: 'float',
    };
    const [first, refused, ...others] = await Promise.allSettled(
      [jobs[0], long, ...jobs.slice(1, 20)].map((job, place) => ask(engines.shared, job ?? long, place)),
    );
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'context_length_exceeded' } });
    expect([first, ...others].map((each) => each?.status)).toEqual(Array(20).fill('fulfilled'));
  });

  it('are all answered where callers leave in the middle', async () => {
    const leavers = jobs.map((job, place) => {
      const leaver = new AbortController();
      const end = engines.shared.ticketFor(job, { keyId: `key-${place % 5}`, signal: leaver.signal }).run();
      return { leaver, end, leaves: place % 4 === 1 };
    });
    for (const { leaver, leaves } of leavers) if (leaves) leaver.abort(new Error('gone'));
    const ends = await Promise.allSettled(leavers.map(({ end }) => end));
    for (const [place, end] of ends.entries()) if (!leavers[place]?.leaves) expect(end.status).toBe('fulfilled');
    expect(engines.shared.status()).toMatchObject({ queuedJobs: 0, busyWorkers: 0 });
  });
});
