// Models that read rows, of other people's architectures, with runs that callers share as on a device: pairs of texts, and documents
// with a question. The answers of each are what it has alone, within the tolerance; with `exact` they are the same to the bit.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probabilitiesInOrder } from '../../src/domain/answer.ts';
import type { Question } from '../../src/domain/question.ts';
import { relevanceOf } from '../../src/domain/relevance.ts';
import type { DecideResult, Job, JobResult } from '../../src/engine/engine.ts';
import type { LocalEngine } from '../../src/engine/local-engine.ts';
import { layForeignFolders } from '../fixtures/foreign-folders.ts';
import { type Engines, expectAlike, expectSame, openEngines, textOf } from './shared-runs.ts';
import { caller } from './tiny-engine.ts';

const MODELS = ['bert-reranker', 'deberta-nli', 'laya'] as const;
const QUESTIONS: readonly Question[] = [
  { type: 'noul', instructions: 'is the customer angry', whenFalse: null, whenTrue: 'they are' },
  {
    type: 'choice',
    instructions: 'which team',
    options: ['billing', 'parcels', 'other'].map((name) => ({ name, description: null })),
  },
];

/** So many calls of one model. */
function jobsOf(modelId: (typeof MODELS)[number]): Job[] {
  return Array.from({ length: 30 }, (_, place): Job => {
    if (modelId !== 'bert-reranker') return { modelId, state: textOf(place), questions: QUESTIONS.slice(place % 2) };
    const documents = Array.from({ length: 1 + (place % 4) }, (__, at) => textOf(place * 4 + at));
    return { modelId, query: textOf(place + 50), documents, truncate: false };
  });
}

const folder = mkdtempSync(join(tmpdir(), 'umpire-rows-'));
let engines: Engines;

beforeAll(async () => {
  engines = await openEngines({ modelFolders: layForeignFolders(folder, MODELS), workers: 2 });
});

afterAll(async () => {
  await engines.close();
  rmSync(folder, { recursive: true });
});

function askAll(engine: LocalEngine, jobs: readonly Job[]): Promise<JobResult[]> {
  return Promise.all(jobs.map((job, place) => engine.ticketFor(job, { ...caller, keyId: `key-${place % 3}` }).run()));
}

function numbersOf(result: JobResult): number[] {
  return 'scores' in result
    ? result.scores.map(relevanceOf)
    : (result as DecideResult).answers.flatMap(probabilitiesInOrder);
}

describe.each(MODELS)('calls of %s', (modelId) => {
  const jobs = jobsOf(modelId);

  it('share runs, and each has the answer that it has alone', async () => {
    const [expected, found] = [await askAll(engines.alone, jobs), await askAll(engines.shared, jobs)];
    expect(engines.warnings).toEqual([]);
    expectAlike(found, expected, numbersOf);
  });

  it('have the same bits as alone where answers must be exact', async () => {
    expectSame(await askAll(engines.exact, jobs), await askAll(engines.alone, jobs), numbersOf);
  });

  it('are refused one by one: what is too long fails its own call', async () => {
    const long = 'late '.repeat(3000);
    const tooLong: Job =
      modelId === 'bert-reranker'
        ? { modelId, query: 'late', documents: [long], truncate: false }
        : { modelId, state: long, questions: QUESTIONS };
    const [first, refused, ...others] = await Promise.allSettled(
      [jobs[0] ?? tooLong, tooLong, ...jobs.slice(1, 12)].map((job) => engines.shared.ticketFor(job, caller).run()),
    );
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'context_length_exceeded' } });
    expect([first, ...others].map((each) => each?.status)).toEqual(Array(12).fill('fulfilled'));
  });
});
