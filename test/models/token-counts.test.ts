// What is counted before a request runs is what its reply bills, for requests of every shape: by the main thread and by
// workers, with the shipped models and with tiny ones.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller, DecideJob, EmbedInput, EmbedJob } from '../../src/engine/engine.ts';
import type { LocalEngine } from '../../src/engine/local-engine.ts';
import { toQuestion } from '../../src/runtime/model-folder/golden.ts';
import { createTinyEngine } from '../workers/tiny-engine.ts';
import { randomRequests } from './random-requests.ts';
import { RandomSource } from './random-source.ts';

const caller: Caller = { keyId: 'key', signal: new AbortController().signal };
const folderOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

describe.each([
  {
    decider: 'kev',
    embedder: 'text-embed-mini',
    folders: ['models/kev', 'models/text-embed-mini'],
    requests: 40,
    longest: 8000,
  },
  {
    decider: 'tiny-decision',
    embedder: 'tiny-embedding',
    folders: ['test/fixtures/tiny-decision', 'test/fixtures/tiny-embedding'],
    requests: 300,
    longest: Number.POSITIVE_INFINITY,
  },
])('with $decider and $embedder', ({ decider, embedder, folders, requests, longest }) => {
  let engine: LocalEngine;
  beforeAll(async () => {
    engine = await createTinyEngine({
      modelFolders: folders.map(folderOf),
      queue: { maxJobs: 10_000, maxCostMs: 3_600_000, deadlineMs: 3_600_000 },
      probe: { intervalMs: 0, timeoutMs: 600_000 },
    });
    await engine.ready;
  });
  afterAll(() => engine.drain());

  const jobs = randomRequests(4, requests)
    .map(({ state, questions }): DecideJob => ({ modelId: decider, state, questions: questions.map(toQuestion) }))
    .filter(({ state, questions }) => state.length + JSON.stringify(questions).length < longest);
  /** The billed number, or the message of the refusal. */
  const told = async (tokens: Promise<number>): Promise<number | string> =>
    await tokens.catch(({ code, message, param }) => `${code} ${param}: ${message}`);

  it('decisions', async () => {
    for (const job of jobs) {
      const billed = await told(
        engine
          .ticketFor(job, caller)
          .run()
          .then(({ inputTokens }) => inputTokens),
      );
      expect(await told(engine.ticketFor(job, caller).countTokens())).toBe(billed);
    }
    // Some by a worker, some by the main thread.
    const lengths = jobs.map(({ state }) => state.length);
    expect([Math.min(...lengths) < 1000, Math.max(...lengths) > 4096]).toEqual([true, true]);
  });

  it('embeddings', async () => {
    const random = new RandomSource(5);
    for (const { state } of jobs) {
      const texts = state.match(/[\s\S]{1,300}/g) ?? ['x'];
      const inputs = texts.map((text): EmbedInput => (random.chance(0.2) ? [random.whole(0, 40), 5, 6] : text));
      const job: EmbedJob = { modelId: embedder, inputs, dimensions: undefined, encoding: 'base64' };
      const billed = await told(
        engine
          .ticketFor(job, caller)
          .run()
          .then(({ inputTokens }) => inputTokens),
      );
      const counted = await told(engine.ticketFor(job, caller).countTokens());
      // Of several inputs that are too long, the first that is met is named.
      const isRefused = typeof billed === 'string';
      expect(isRefused ? String(counted).split(' ')[0] : counted).toBe(isRefused ? billed.split(' ')[0] : billed);
    }
  });

  it('texts that are too long', async () => {
    for (const words of [9000, 40_000]) {
      const job = {
        modelId: decider,
        state: 'x '.repeat(words),
        questions: [toQuestion({ type: 'noul', instructions: '?', false: null, true: null })],
      };
      const refusal = await told(
        engine
          .ticketFor(job, caller)
          .run()
          .then(({ inputTokens }) => inputTokens),
      );
      expect(refusal).toMatch(/^context_length_exceeded state: The state has \d+ tokens/);
      expect(await told(engine.ticketFor(job, caller).countTokens())).toBe(refusal);
    }
    for (const input of ['x '.repeat(600), 'x '.repeat(6000), [1_000_000]]) {
      const job: EmbedJob = { modelId: embedder, inputs: ['a', input], dimensions: undefined, encoding: 'float' };
      const refusal = await told(
        engine
          .ticketFor(job, caller)
          .run()
          .then(({ inputTokens }) => inputTokens),
      );
      expect(refusal).toMatch(/^(context_length_exceeded|invalid_request) input\[1\]: input\[1\] has/);
      expect(await told(engine.ticketFor(job, caller).countTokens())).toBe(refusal);
    }
  });
});
