// A question that comes in slices, by whichever workers, has the bits of one that is answered in one go.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toAnswer } from '../../src/domain/answer.ts';
import type { Question } from '../../src/domain/question.ts';
import { MemoryPlan } from '../../src/engine/loading/memory-plan.ts';
import { PooledEngine } from '../../src/engine/pooled-engine.ts';
import type { SharedDocument } from '../../src/runtime/messages.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import type { WorkerPool } from '../../src/runtime/worker-pool.ts';
import { openKevPool } from './kev-pool.ts';
import { RandomSource } from './random-source.ts';

const modelId = 'kev';
const random = new RandomSource(23);
const VOCABULARY = 'invoice refund parcel late broken customer order delivery account question'.split(' ');
const words = (count: number): string => Array.from({ length: count }, () => random.pick(VOCABULARY)).join(' ');
const STATE = words(300);

const QUESTIONS: readonly (readonly [string, Question])[] = [
  [
    'of many options',
    {
      type: 'choice',
      instructions: 'Which team should handle this?',
      options: Array.from({ length: 60 }, (_, i) => ({ name: `team ${i}`, description: words(25) })),
    },
  ],
  [
    'of options longer than a window',
    { type: 'score', instructions: 'How urgent is it?', levels: Array.from({ length: 5 }, () => words(400)) },
  ],
  [
    'of long instructions too',
    {
      type: 'choice',
      instructions: words(700),
      options: Array.from({ length: 12 }, (_, i) => ({ name: `team ${i}`, description: words(60) })),
    },
  ],
];

let folder: string;
let pool: WorkerPool;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'umpire-sliced-'));
  pool = await openKevPool(folder, 0);
});

afterAll(async () => {
  await pool.close();
  await rm(folder, { recursive: true, force: true });
});

async function wholeAnswer(question: Question): Promise<readonly number[]> {
  const { probabilities } = await pool.run({ kind: 'decide', modelId, state: STATE, questions: [question] }, 0);
  return probabilities[0] ?? [];
}

async function encode(): Promise<SharedDocument> {
  const memory = new SharedArrayBuffer(160 * 1024 * 1024);
  const task = {
    kind: 'encode',
    modelId,
    state: STATE,
    questions: [],
    share: 0,
    shares: 1,
    memory,
  } as const;
  return { windows: (await pool.run(task, 0)).windows, memory };
}

describe.each(QUESTIONS)('a question %s', (_what, question) => {
  it.each([2, 3, 7, 100])('has the same bits in %i slices', { timeout: 120_000 }, async (slices) => {
    const document = await encode();
    const replies = await Promise.all(
      [0, 1].map(async (worker) => {
        const done: [number, readonly Float32Array[]][] = [];
        for (let slice = worker; slice < slices; slice += 2) {
          const task = { kind: 'answer-slice', modelId, question, document, slice, slices } as const;
          done.push([slice, (await pool.run(task, worker)).vectors]);
        }
        return done;
      }),
    );
    const vectors = replies
      .flat()
      .toSorted(([a], [b]) => a - b)
      .flatMap(([, slice]) => slice);
    expect(vectors.length).toBeGreaterThan(2);
    const stateTokens = document.windows.reduce((sum, { tokens }) => sum + tokens, 0);
    const { probabilities } = await pool.run({ kind: 'answer-end', modelId, question, stateTokens, vectors }, 1);
    expect(probabilities).toEqual([await wholeAnswer(question)]);
  });
});

describe('the engine', () => {
  it('answers questions in slices beside others, each in its place', { timeout: 240_000 }, async () => {
    const model = await readModelFolder(fileURLToPath(new URL(`../../models/${modelId}`, import.meta.url)));
    const own = await openKevPool(folder, 0);
    const begun: string[] = [];
    const watched = {
      workers: own.workers,
      loaded: own.loaded,
      run: (...[task, worker]: Parameters<WorkerPool['run']>) => {
        begun.push(task.kind);
        return own.run(task, worker);
      },
      close: () => own.close(),
    } as unknown as WorkerPool;
    const engine = new PooledEngine({
      plan: new MemoryPlan({ models: [], cacheBytes: 0, budgetBytes: 0, workers: 1 }),
      folders: [model],
      pool: watched,
      threadsPerWorker: 1,
      stateCacheBytes: 0,
      openCounter: async () => undefined,
      queue: { maxJobs: 16, maxCostMs: 600_000, deadlineMs: 600_000 },
      probe: { intervalMs: 0, timeoutMs: 60_000 },
      onEvent: () => undefined,
    });
    await engine.ready;
    const short: Question = { type: 'noul', instructions: 'Is it late?', whenFalse: null, whenTrue: null };
    const questions = [short, ...QUESTIONS.map(([, question]) => question), short];
    const caller = { keyId: 'key', signal: new AbortController().signal };
    const { answers, inputTokens } = await engine.ticketFor({ modelId, state: STATE, questions }, caller).run();
    expect(begun).toContain('answer-slice');
    const whole = await pool.run({ kind: 'decide', modelId, state: STATE, questions }, 0);
    expect(answers).toEqual(questions.map((question, place) => toAnswer(question, whole.probabilities[place] ?? [])));
    expect(inputTokens).toBe(whole.inputTokens);
    await engine.drain();
  });
});
