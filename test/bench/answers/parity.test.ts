// Answers of one device beside those of another: the same first choices, shifts, cosines; and what is no longer the same.

import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../bench/answers/answers.ts';
import {
  askAll,
  BESIDE_FULL_PRECISION,
  countShared,
  findParityFault,
  listParityJobs,
  reckonParity,
} from '../../../bench/answers/parity.ts';
import type { BenchReply } from '../../../bench/load/client.ts';
import type { Job } from '../../../bench/load/workload.ts';

const decision = (...probabilities: number[][]): Answer => ({ task: 'decision', probabilities });
const vectors = (...rows: number[][]): Answer => ({
  task: 'embedding',
  vectors: rows.map((row) => Float32Array.from(row)),
});
const ASKED = [decision([0.6, 0.4], [0.1, 0.2, 0.7]), vectors([1, 0], [0, 1])];

const LIMITS = { same: 0.5, meanShift: 0.1, cosine: 0.7 };

describe('parity', () => {
  it('counts first choices question by question, and what probabilities and vectors moved', () => {
    const found = reckonParity(ASKED, [decision([0.4, 0.6], [0.1, 0.2, 0.7]), vectors([1, 0], [1, 1])]);
    expect(found).toMatchObject({ questions: 2, same: 1, vectors: 2 });
    expect(found.meanShift).toBeCloseTo(0.4 / 5, 12);
    expect(found.largestShift).toBeCloseTo(0.2, 12);
    expect(found.smallestCosine).toBeCloseTo(Math.SQRT1_2, 6);
    expect(findParityFault(found, LIMITS)).toBeUndefined();
    expect(findParityFault(found, { ...LIMITS, same: 0.99 })).toBe(
      '1 of 2 questions have the same first choice, and 99 % should',
    );
    expect(findParityFault(found, { ...LIMITS, meanShift: 0.01 })).toContain('8.0e-2 off on the mean');
    expect(findParityFault(found, { ...LIMITS, cosine: 0.9 })).toContain('a vector has cosine 0.70711');
  });

  it('of the same answers is whole', () => {
    expect(reckonParity(ASKED, ASKED)).toMatchObject({ same: 2, meanShift: 0, largestShift: 0, smallestCosine: 1 });
    expect(findParityFault(reckonParity(ASKED, ASKED), BESIDE_FULL_PRECISION)).toBeUndefined();
  });

  it.each([
    ['nothing was asked', [], []],
    ['an option is missing', ASKED, [decision([0.6, 0.4], [0.1, 0.9]), vectors([1, 0], [0, 1])]],
    ['a number is none', ASKED, [decision([Number.NaN, 0.4], [0.1, 0.2, 0.7]), vectors([1, 0], [0, 1])]],
    ['a vector is of another length', ASKED, [decision([0.6, 0.4], [0.1, 0.2, 0.7]), vectors([1, 0], [0])]],
    ['no vector was asked for', ASKED.slice(0, 1), ASKED.slice(0, 1)],
  ])('where %s is a fault', (_name, expected, got) => {
    expect(findParityFault(reckonParity(expected, got), LIMITS)).toBeDefined();
  });

  it('of answers to other jobs is none', () => {
    expect(() => reckonParity(ASKED, ASKED.slice(0, 1))).toThrow('The 2th answer is missing');
    expect(() => reckonParity(ASKED, [...ASKED].reverse())).toThrow('The 1th answer is missing');
  });
});

describe('the jobs', () => {
  it('are decisions about one text and about many, and embeddings of both', async () => {
    const jobs = await listParityJobs();
    const decisions = jobs.filter((job) => job.task === 'decision').map(({ body }) => body.state.length);
    expect(decisions.length).toBeGreaterThan(60);
    expect(Math.max(...decisions)).toBeGreaterThan(1000);
    const inputs = jobs.flatMap((job) => (job.task === 'embedding' ? [job.inputs.length] : []));
    expect([Math.min(...inputs), Math.max(...inputs)]).toEqual([1, 16]);
  });

  it('are asked so many at a time, and answered in their order', async () => {
    const jobs = Array.from({ length: 9 }, (_, place): Job => ({ task: 'embedding', inputs: [String(place)] }));
    let [now, most] = [0, 0];
    const askUntilLetIn = async (job: Job): Promise<BenchReply> => {
      most = Math.max(most, ++now);
      const text = job.task === 'embedding' ? (job.inputs[0] ?? '') : '';
      for (let turns = 9 - Number(text); turns > 0; turns--) await Promise.resolve();
      now -= 1;
      const headers: Record<string, string> = Number(text) % 2 === 0 ? { 'x-umpire-tolerance': '0.001' } : {};
      return { status: 200, latencyMs: 1, text, headers };
    };
    const replies = await askAll({ askUntilLetIn }, jobs, 4);
    expect(replies.map(({ text }) => text).join('')).toBe('012345678');
    expect([most, countShared(replies)]).toEqual([4, 5]);
  });
});
