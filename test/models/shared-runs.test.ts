// The shipped models in full precision with runs that callers share, as on a device: every answer is what it is with a run of its
// own, and those with runs of their own are the same to the bit however many ask.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probabilitiesInOrder } from '../../src/domain/answer.ts';
import type { Question } from '../../src/domain/question.ts';
import type { DecideJob, DecideResult } from '../../src/engine/engine.ts';
import { createLocalEngine, type LocalEngine } from '../../src/engine/local-engine.ts';

const SHARED = { tokens: 4096, waitMs: 5, inFlight: 2, exact: false, onCpu: true };
const SENTENCES = [
  'I was charged twice for my subscription.',
  'The parcel came late, and the box was open.',
  'Since the update the app closes as soon as I open a file.',
  'Thank you, the refund is here.',
  'Can I move my booking to next week?',
  'Nobody answers my mails, I am really angry.',
];
const LONG = SENTENCES.join(' ').repeat(5);
const QUESTIONS: readonly Question[] = [
  {
    type: 'choice',
    instructions: 'Which team should handle this?',
    options: ['billing', 'technical', 'shipping', 'travel'].map((name) => ({ name, description: null })),
  },
  { type: 'noul', instructions: 'Is the customer angry?', whenFalse: null, whenTrue: 'they complain' },
  { type: 'score', instructions: 'How urgent is it?', levels: ['can wait', 'today', 'at once'] },
  { type: 'noul', instructions: `Is it so? ${LONG}`, whenFalse: null, whenTrue: null },
];

const sentence = (place: number): string => SENTENCES[place % SENTENCES.length] ?? '';
const jobs = Array.from({ length: 14 }, (_, place): DecideJob => {
  const state = place % 9 === 8 ? `${sentence(place)} ${LONG}` : `${sentence(place)} ${sentence(place * 5 + 1)}`;
  const asked = place % 12 === 5 ? QUESTIONS : QUESTIONS.slice(place % 3, (place % 3) + 1);
  return { modelId: 'kev', state, questions: asked };
});

let cacheFolder: string;
const warnings: string[] = [];
const engines: LocalEngine[] = [];

async function open(batch: typeof SHARED): Promise<LocalEngine> {
  const engine = await createLocalEngine({
    modelFolders: [fileURLToPath(new URL('../../models/kev', import.meta.url))],
    device: 'cpu',
    allowDeviceFallback: false,
    workers: 2,
    threadsPerWorker: 1,
    cacheFolder,
    stateCacheBytes: 0,
    queue: { maxJobs: 1000, maxCostMs: 6_000_000, deadlineMs: 1_000_000 },
    probe: { intervalMs: 0, timeoutMs: 60_000 },
    batch,
    onEvent: ({ level, message }) => {
      if (level !== 'info') warnings.push(message);
    },
  });
  engines.push(engine);
  await engine.ready;
  return engine;
}

beforeAll(async () => {
  cacheFolder = await mkdtemp(join(tmpdir(), 'umpire-graphs-'));
});

afterAll(async () => {
  for (const engine of engines) await engine.drain();
  await rm(cacheFolder, { recursive: true, force: true });
});

const NOTHING: DecideResult = {
  answers: [],
  inputTokens: 0,
  timings: { queueMs: 0, tokenizeMs: 0, inferMs: 0 },
  source: { answer: 'run', keptTokens: 0 },
};

function ask(engine: LocalEngine, place: number): Promise<DecideResult> {
  const job = jobs[place];
  if (job === undefined) throw new Error(`no job ${place}`);
  const caller = { keyId: `key-${place % 4}`, signal: new AbortController().signal };
  return engine.ticketFor({ ...job, wantsVectors: true }, caller).run();
}

const askAll = (engine: LocalEngine): Promise<DecideResult[]> =>
  Promise.all(jobs.map((_, place) => ask(engine, place)));

const numbersOf = ({ answers }: DecideResult): (readonly number[])[] => answers.map(probabilitiesInOrder);

describe('decisions of many callers', () => {
  it('share runs, and each has the answer of a run of its own', async () => {
    const exact = await open({ ...SHARED, exact: true });
    const alone = await askAll(exact);
    for (const place of [4, 5]) expect(numbersOf(await ask(exact, place))).toEqual(numbersOf(alone[place] ?? NOTHING));
    const together = await askAll(await open(SHARED));
    expect(warnings.filter((message) => message.includes('shares no runs'))).toEqual([]);
    expect(alone.some(({ isBatched }) => isBatched)).toBe(false);
    expect(together.filter(({ isBatched }) => isBatched).length).toBeGreaterThan(jobs.length / 2);
    for (const [place, result] of together.entries()) {
      const own = alone[place] ?? NOTHING;
      expect(result.inputTokens).toBe(own.inputTokens);
      for (const [question, found] of numbersOf(result).entries()) {
        const due = numbersOf(own)[question] ?? [];
        for (const [option, probability] of found.entries()) {
          expect(Math.abs(probability - (due[option] ?? Number.NaN))).toBeLessThan(1e-4);
        }
      }
      const [vector, expected] = [result.vector ?? new Float32Array(), own.vector ?? new Float32Array()];
      expect(vector).toHaveLength(384);
      expect(result.views).toHaveLength(result.answers.length);
      for (const [at, value] of vector.entries())
        expect(Math.abs(value - (expected[at] ?? Number.NaN))).toBeLessThan(1e-3);
    }
  });
});
