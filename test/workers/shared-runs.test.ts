// Runs that callers share, by real workers on the CPU in full precision, which is how it goes on a device: the answers of each are
// what it has alone, within the tolerance; and with `exact` they are the same to the bit.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbedJob, EmbedResult } from '../../src/engine/engine.ts';
import type { LocalEngine } from '../../src/engine/local-engine.ts';
import { caller, createTinyEngine, tinyEmbedding } from './tiny-engine.ts';

const SHARED = { tokens: 2048, waitMs: 2, inFlight: 2, exact: false, onCpu: true };
const WORDS = 'the order of the customer is late and a refund for it was asked twice by mail'.split(' ');

function textOf(place: number): string {
  return Array.from({ length: 1 + ((place * 7) % 18) }, (_, word) => WORDS[(place * 5 + word * 3) % WORDS.length]).join(
    ' ',
  );
}

const jobs = Array.from({ length: 80 }, (_, place): EmbedJob => {
  const inputs = Array.from({ length: 1 + (place % 3) }, (__, at) => textOf(place * 3 + at));
  return { modelId: 'tiny-embedding', inputs, dimensions: undefined, encoding: 'float' };
});

function numbersOf({ embeddings }: EmbedResult): number[] {
  return embeddings.flatMap((vector) => (typeof vector === 'string' ? [] : [...vector]));
}

const warnings: string[] = [];
let alone: LocalEngine;
let shared: LocalEngine;
let exact: LocalEngine;

beforeAll(async () => {
  const onEvent = ({ level, message }: { level: string; message: string }) => {
    if (level !== 'info') warnings.push(message);
  };
  const folders = { modelFolders: [tinyEmbedding], workers: 3, onEvent };
  alone = await createTinyEngine(folders);
  shared = await createTinyEngine({ ...folders, batch: SHARED });
  exact = await createTinyEngine({ ...folders, batch: { ...SHARED, exact: true } });
  await Promise.all([alone.ready, shared.ready, exact.ready]);
});

afterAll(async () => {
  await Promise.all([alone, shared, exact].map((engine) => engine.drain()));
});

function ask(engine: LocalEngine, job: EmbedJob, place: number): Promise<EmbedResult> {
  return engine.ticketFor(job, { ...caller, keyId: `key-${place % 5}` }).run();
}

describe('texts of many callers', () => {
  it('have the vectors that each has alone', async () => {
    const expected = await Promise.all(jobs.map((job, place) => ask(alone, job, place)));
    const found = await Promise.all(jobs.map((job, place) => ask(shared, job, place)));
    expect(warnings).toEqual([]);
    expect(found.filter(({ isBatched }) => isBatched).length).toBeGreaterThan(jobs.length / 2);
    for (const [place, result] of found.entries()) {
      const [numbers, due] = [numbersOf(result), numbersOf(expected[place] ?? result)];
      expect(numbers).toHaveLength(due.length);
      for (const [at, value] of due.entries()) expect(Math.abs(value - (numbers[at] ?? Number.NaN))).toBeLessThan(1e-4);
      expect(result.inputTokens).toBe(expected[place]?.inputTokens);
    }
  });

  it('have the same bits as alone where answers must be exact', async () => {
    const expected = await Promise.all(jobs.map((job, place) => ask(alone, job, place)));
    const found = await Promise.all(jobs.map((job, place) => ask(exact, job, place)));
    expect(found.map(numbersOf)).toEqual(expected.map(numbersOf));
    expect(found.some(({ isBatched }) => isBatched)).toBe(false);
  });

  it('are refused one by one: a text that is too long fails its own call', async () => {
    const long: EmbedJob = {
      modelId: 'tiny-embedding',
      inputs: ['late '.repeat(2000)],
      dimensions: undefined,
      encoding: 'float',
    };
    const [first, refused, ...others] = await Promise.allSettled(
      [jobs[0], long, ...jobs.slice(1, 20)].map((job, place) => ask(shared, job ?? long, place)),
    );
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'context_length_exceeded' } });
    expect([first, ...others].map((each) => each?.status)).toEqual(Array(20).fill('fulfilled'));
  });

  it('are all answered where callers leave in the middle', async () => {
    const leavers = jobs.map((job, place) => {
      const leaver = new AbortController();
      const end = shared.ticketFor(job, { keyId: `key-${place % 5}`, signal: leaver.signal }).run();
      return { leaver, end, leaves: place % 4 === 1 };
    });
    for (const { leaver, leaves } of leavers) if (leaves) leaver.abort(new Error('gone'));
    const ends = await Promise.allSettled(leavers.map(({ end }) => end));
    for (const [place, end] of ends.entries()) if (!leavers[place]?.leaves) expect(end.status).toBe('fulfilled');
    expect(shared.status()).toMatchObject({ queuedJobs: 0, busyWorkers: 0 });
  });
});
