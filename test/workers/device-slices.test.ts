// A decision of many questions about a long document, by real workers that answer rows as on a device: it comes in slices, and its
// answers and its bill are those of one that is not sliced.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { probabilitiesInOrder } from '../../src/domain/answer.ts';
import type { DecideJob, DecideResult } from '../../src/engine/engine.ts';
import type { LocalEngine } from '../../src/engine/local-engine.ts';
import { caller, createTinyEngine, longJob } from './tiny-engine.ts';

const tinyHalf = fileURLToPath(new URL('../fixtures/tiny-half', import.meta.url));
/** The document alone is longer than a run. */
const SHARED = { tokens: 512, waitMs: 2, inFlight: 2, exact: false, onCpu: true };
const job: DecideJob = { ...longJob(), modelId: 'tiny-half', state: 'the order of the customer is late. '.repeat(100) };

let alone: LocalEngine;
let sliced: LocalEngine;
let exact: LocalEngine;
const warnings: string[] = [];

beforeAll(async () => {
  const onEvent = ({ level, message }: { level: string; message: string }) => {
    if (level !== 'info') warnings.push(message);
  };
  const folders = { modelFolders: [tinyHalf], onEvent };
  alone = await createTinyEngine(folders);
  sliced = await createTinyEngine({ ...folders, batch: SHARED });
  exact = await createTinyEngine({ ...folders, batch: { ...SHARED, exact: true } });
  await Promise.all([alone, sliced, exact].map((engine) => engine.ready));
});

afterAll(async () => {
  await Promise.all([alone, sliced, exact].map((engine) => engine.drain()));
});

const ask = (engine: LocalEngine, asked = job): Promise<DecideResult> => engine.ticketFor(asked, caller).run();
const numbersOf = ({ answers }: DecideResult): number[] => answers.flatMap(probabilitiesInOrder);

it('has the answers, the vectors and the bill of one that is not sliced', async () => {
  const due = await ask(alone);
  expect(warnings).toEqual([]);
  for (const engine of [sliced, exact]) {
    const found = await ask(engine, { ...job, wantsVectors: true });
    const [numbers, expected] = [numbersOf(found), numbersOf(due)];
    expect(numbers).toHaveLength(expected.length);
    for (const [at, value] of expected.entries())
      expect(Math.abs(value - (numbers[at] ?? Number.NaN))).toBeLessThan(1e-4);
    expect(found.inputTokens).toBe(due.inputTokens);
    expect(found.vector).toHaveLength(8);
  }
});

it('has the same bits each time where each question has a run of its own', async () => {
  const [first, ...others] = await Promise.all([ask(exact), ask(exact)]);
  for (const other of others) expect(numbersOf(other)).toEqual(first && numbersOf(first));
});

it('is refused as a whole where its questions are too long in all', async () => {
  const [question] = job.questions;
  const long = {
    ...job,
    questions: Array.from({ length: 16 }, () => ({ ...question, instructions: 'late '.repeat(2500) })),
  };
  for (const engine of [alone, sliced, exact]) {
    await expect(ask(engine, long as DecideJob)).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'questions',
    });
  }
});
