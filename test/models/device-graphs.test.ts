// The shipped models' graphs for devices, on this processor: fp32 and fp16 over the weights of the int8 file. They answer
// as the training framework does with these weights (golden.json has it), and as int8 but for its rounding of what layers read.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWrittenDev, sidesOf } from '../../bench/quality/written-documents.ts';
import type { LabelledRow } from '../../src/quality/labelled-row.ts';
import { SplitEncoder } from '../../src/runtime/families/split-encoder/split-encoder.ts';
import { StateMemory } from '../../src/runtime/families/split-encoder/state-memory.ts';
import { TextEncoder } from '../../src/runtime/families/text-encoder/text-encoder.ts';
import { checkDecisions, checkEmbeddings } from '../../src/runtime/golden-check.ts';
import { makeFamily, openModel } from '../../src/runtime/load-model.ts';
import {
  cosineOf,
  type DecisionCase,
  type EmbeddingCase,
  type GoldenFile,
} from '../../src/runtime/model-folder/golden.ts';
import type { ModelFolder } from '../../src/runtime/model-folder/manifest.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import type { GraphSession } from '../../src/runtime/session.ts';
import { readPackedJson } from './packed-json.ts';

const MODELS = fileURLToPath(new URL('../../models/', import.meta.url));
const PRECISIONS = ['int8', 'fp32', 'fp16'] as const;
type Precision = (typeof PRECISIONS)[number];
/** Of a graph without weights. */
const MOST_GRAPH_BYTES = 100_000;
const SCRATCH_BYTES = 32 * 1024 * 1024;
const START_MS = 240_000;

const kev = new Map<Precision, SplitEncoder>();
const mini = new Map<Precision, TextEncoder>();
const sessions: GraphSession[] = [];
let kevFolder: ModelFolder;
let miniFolder: ModelFolder;

async function open(folder: ModelFolder, precision: Precision) {
  const memory = new StateMemory({ keptBytes: 0, scratchBytes: SCRATCH_BYTES });
  const turn = new SharedArrayBuffer(4);
  const parts = await openModel(folder, precision, { device: 'cpu', threads: 1, cacheFolder: undefined, turn, memory });
  sessions.push(...parts.opened.sessions.values());
  return makeFamily(parts);
}

beforeAll(async () => {
  [kevFolder, miniFolder] = await Promise.all([
    readModelFolder(join(MODELS, 'kev')),
    readModelFolder(join(MODELS, 'text-embed-mini')),
  ]);
  for (const precision of PRECISIONS) {
    const [decider, embedder] = [await open(kevFolder, precision), await open(miniFolder, precision)];
    if (!(decider instanceof SplitEncoder && embedder instanceof TextEncoder)) throw new Error('other families');
    kev.set(precision, decider);
    mini.set(precision, embedder);
  }
}, START_MS);

afterAll(async () => {
  for (const session of sessions) await session.close();
});

const opened = <Family>(families: ReadonlyMap<Precision, Family>, precision: Precision): Family => {
  const family = families.get(precision);
  if (family === undefined) throw new Error(`${precision} is not open`);
  return family;
};

const goldenCases = <Case>({ path }: ModelFolder) =>
  (readPackedJson(join(path, 'golden.json.gz')) as GoldenFile<Case>).cases;

/** A third of the written documents that nothing was trained on. */
function writtenRows(): LabelledRow[] {
  const documents = readWrittenDev([join(MODELS, 'training/written')]).filter((_, place) => place % 3 === 0);
  return documents.map((document, line) => sidesOf(document, line)[0]?.row).filter((row) => row !== undefined);
}

const firstOf = (values: readonly number[]): number => values.indexOf(Math.max(...values));

/** How far two answers to each question are from each other. */
class Gap {
  changed = 0;
  #total = 0;
  #count = 0;
  questions = 0;

  get mean(): number {
    return this.#total / this.#count;
  }

  add(one: readonly number[], other: readonly number[]): void {
    for (const [place, probability] of one.entries()) {
      const shift = Math.abs(probability - (other[place] ?? Number.NaN));
      this.#total += shift;
      this.#count++;
    }
    this.questions++;
    if (firstOf(one) !== firstOf(other)) this.changed++;
  }
}

describe('the graphs for devices', () => {
  it('add no weights: each points into the file of the int8 graphs', () => {
    for (const { path, manifest } of [kevFolder, miniFolder]) {
      for (const precision of ['fp32', 'fp16']) {
        const files = Object.values(manifest.graphs[precision] ?? {});
        expect(files.length).toBeGreaterThan(0);
        for (const name of files) {
          expect(statSync(join(path, name)).size).toBeLessThan(MOST_GRAPH_BYTES);
          expect(readFileSync(join(path, name), 'latin1')).toMatch(/weights\.int8\.bin|embed\.int8\.onnx/);
        }
      }
    }
  });

  it.each(['fp32', 'fp16'] as const)(
    'of kev give the golden answers in %s',
    { timeout: START_MS },
    async (precision) => {
      const checked = await checkDecisions(opened(kev, precision), goldenCases<DecisionCase>(kevFolder), precision);
      expect(checked.fault).toBeUndefined();
    },
  );

  it.each(['fp32', 'fp16'] as const)('of text-embed-mini give the golden vectors in %s', async (precision) => {
    const checked = await checkEmbeddings(opened(mini, precision), goldenCases<EmbeddingCase>(miniFolder), precision);
    expect(checked.fault).toBeUndefined();
  });

  it('answer in fp16 as in fp32, and are right as often as int8', { timeout: START_MS }, async () => {
    const [quantized, rounded] = [new Gap(), new Gap()];
    const right = new Map<Precision, number>(PRECISIONS.map((precision) => [precision, 0]));
    for (const { state, questions } of writtenRows()) {
      const texts = { state, questions: questions.map(({ question }) => question) };
      const answers = new Map<Precision, readonly (readonly number[])[]>();
      for (const [precision, family] of kev) answers.set(precision, (await family.decide(texts, true)).probabilities);
      for (const [place, { target }] of questions.entries()) {
        const [plain = [], half = [], bytes = []] = (['fp32', 'fp16', 'int8'] as const).map(
          (precision) => answers.get(precision)?.[place],
        );
        quantized.add(plain, bytes);
        rounded.add(plain, half);
        for (const [precision, all] of answers) {
          if (firstOf(all[place] ?? []) === firstOf(target)) right.set(precision, (right.get(precision) ?? 0) + 1);
        }
      }
    }
    const { questions } = rounded;
    expect(questions).toBeGreaterThan(100);
    expect(rounded.changed / questions).toBeLessThanOrEqual(0.01);
    expect(rounded.mean).toBeLessThanOrEqual(1e-3);
    // int8 rounds what layers read, with a scale for a whole run: on hard questions that shows.
    expect(quantized.mean).toBeLessThanOrEqual(0.03);
    const difference = (right.get('fp32') ?? 0) - (right.get('int8') ?? 0);
    expect(difference / questions).toBeGreaterThan(-0.05);
  });

  it('read documents of several windows, and keep them', { timeout: START_MS }, async () => {
    const state = 'The parcel came late and nobody answers. '.repeat(120);
    const questions = [{ type: 'noul' as const, instructions: 'Is it a complaint?', whenFalse: null, whenTrue: null }];
    const [wanted, found] = await Promise.all(
      (['fp32', 'fp16'] as const).map(async (precision) => opened(kev, precision).decide({ state, questions })),
    );
    const [[one = []] = [], [other = []] = []] = [wanted?.probabilities, found?.probabilities];
    expect(wanted?.stateTokens).toBeGreaterThan(512);
    for (const [place, probability] of one.entries()) expect(other[place]).toBeCloseTo(probability, 2);
  });

  it('of text-embed-mini give a row the same vector beside a longer one', async () => {
    const family = opened(mini, 'fp32');
    const embed = async (...inputs: string[]) => {
      const task = { inputs: inputs.map((input, place) => ({ place, input })), longInputs: 'refuse' as const };
      return (await family.embed({ ...task, dimensions: undefined, encoding: 'float' })).embeddings;
    };
    const [alone] = await embed('a short text');
    const [beside] = await embed('a short text', 'a much longer text '.repeat(40));
    if (!(alone instanceof Float32Array && beside instanceof Float32Array)) throw new Error('no vectors');
    expect(cosineOf(alone, beside)).toBeGreaterThan(0.999_999);
  });
});
