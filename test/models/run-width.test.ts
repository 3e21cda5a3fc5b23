// A caller who is alone has the cores of every worker, and the bits of one who is not.

import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import type { Task } from '../../src/runtime/messages.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { isAddon, loadAddon } from '../../src/runtime/native.ts';
import { type PoolReport, WorkerPool } from '../../src/runtime/worker-pool.ts';
import { RandomSource } from './random-source.ts';

const CORES = availableParallelism();
/** Elsewhere no thread can be bound, and there are no wide runs. */
const canBeWide = isAddon(await loadAddon()) && process.platform === 'linux' && CORES > 1;

const random = new RandomSource(31);
const VOCABULARY = 'invoice refund parcel late broken customer order delivery account question'.split(' ');
const words = (count: number): string => Array.from({ length: count }, () => random.pick(VOCABULARY)).join(' ');
const FOLDERS = ['kev', 'text-embed-mini'].map((id) => fileURLToPath(new URL(`../../models/${id}`, import.meta.url)));

const CHOICE: Question = {
  type: 'choice',
  instructions: 'Which team should handle this?',
  options: Array.from({ length: 7 }, (_, i) => ({ name: `team ${i}`, description: words(8) })),
};
const NOUL: Question = { type: 'noul', instructions: words(40), whenFalse: null, whenTrue: null };

const decide = (tokens: number, ...questions: Question[]): Task => ({
  kind: 'decide',
  modelId: 'kev',
  state: words(tokens),
  questions,
});
const embed = (...inputs: string[]): Task => ({
  kind: 'embed',
  modelId: 'text-embed-mini',
  inputs: inputs.map((input, place) => ({ place, input })),
  longInputs: 'refuse',
  dimensions: undefined,
  encoding: 'float',
});

let folder: string;
let pool: WorkerPool;
let report: PoolReport;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'umpire-width-'));
  pool = new WorkerPool({
    models: await Promise.all(FOLDERS.map(readModelFolder)),
    device: 'cpu',
    allowDeviceFallback: false,
    threads: 1,
    aloneThreads: CORES,
    cacheFolder: folder,
    stateCacheBytes: 0,
    workers: 1,
    onFault: () => undefined,
  });
  report = await pool.loaded;
});

afterAll(async () => {
  await pool.close();
  await rm(folder, { recursive: true, force: true });
});

/** What is answered, without the times it took. */
async function answersOf(task: Task, isWide: boolean): Promise<unknown> {
  const {
    tokenizeMs: _,
    inferMs: __,
    ...answers
  } = { tokenizeMs: 0, inferMs: 0, ...(await pool.run(task, 0, isWide)) };
  return answers;
}

describe.runIf(canBeWide)('a run with all cores', () => {
  it('is proven at the start, without a warning', () => {
    expect([report.warnings, pool.wideWorker]).toEqual([[], 0]);
  });

  it.each<[string, Task]>([
    ['a word', decide(1, NOUL)],
    ['a short document', decide(60, CHOICE)],
    ['a window and several questions', decide(250, CHOICE, NOUL, { ...CHOICE, instructions: words(300) })],
    ['several windows', decide(900, CHOICE, NOUL)],
    ['an embedding', embed(words(12))],
    ['embeddings', embed(words(200), words(3), words(90))],
  ])('has the same bits: %s', async (_name, task) => {
    const narrow = await answersOf(task, false);
    expect(await answersOf(task, true)).toEqual(narrow);
    expect(await answersOf(task, false)).toEqual(narrow);
  });
});
