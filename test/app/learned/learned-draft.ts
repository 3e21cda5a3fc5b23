// Learned models over the tiny decision model, as tests write them into a data folder.

import { join } from 'node:path';
import { type LearnedDraft, writeLearnedFolder } from '../../../src/app/learned/write-learned-folder.ts';
import type { Question } from '../../../src/domain/question.ts';
import { type FrozenQuestion, hashOfState, identify } from '../../../src/learning/frozen-rows.ts';
import type { LearnedQuestion } from '../../../src/learning/learned-model.ts';
import { type DecisionFolder, isDecisionFolder } from '../../../src/runtime/model-folder/calibrated-folder.ts';
import { readModelFolder } from '../../../src/runtime/model-folder/model-folder.ts';
import { tinyDecision } from '../../workers/tiny-engine.ts';

/** What the tests' rows ask: its texts must be nowhere in a folder. */
export const WHERE: Question = {
  type: 'choice',
  instructions: 'Where does the parcel wait?',
  options: [
    { name: 'depot', description: null },
    { name: 'harbour', description: 'at the quay' },
  ],
};
export const STATE = 'The parcel of Mrs Quillfeather waits at the quay.';
const DIMENSIONS = 3;

export async function readTinyBase(path = tinyDecision): Promise<DecisionFolder> {
  const folder = await readModelFolder(path);
  if (!isDecisionFolder(folder)) throw new Error('The tiny model should answer questions.');
  return folder;
}

const share = (mean: number) => ({ mean, spread: 0.05 });
const measured = (accuracy: number) => ({
  accuracy: share(accuracy),
  macroF1: share(accuracy),
  ece: share(0.04),
  answeredAt5: share(Number.NaN),
});

/** @param bias of the option that stands first by its hash: the higher, the surer of it */
export function learnedQuestion(question: Question = WHERE, bias = 1, dimensions = DIMENSIONS): LearnedQuestion {
  const { type, asked, options } = identify(question);
  const places = type === 'choice' ? options.length : 1;
  return {
    type,
    asked,
    options,
    rows: options.map(() => 8),
    figures: { zeroShot: measured(0.5), learned: measured(0.75) },
    head: {
      offset: 0.5,
      temperature: 1,
      newOption: 0,
      parts: [{ dimensions, isUnit: false }],
      centre: new Float32Array(dimensions),
      biases: Float64Array.from(options, (_, place) => (place === 0 ? bias : 0)),
      weights: new Float32Array(places * dimensions),
    },
  };
}

export function frozenQuestion(question: Question = WHERE, dimensions = DIMENSIONS): FrozenQuestion {
  const { type, asked, options } = identify(question);
  const even = options.map(() => 1 / options.length);
  const row = {
    line: 3,
    state: hashOfState(STATE),
    vector: new Float32Array(dimensions).fill(0.5),
    zeroShot: even,
    target: even.map((_, place) => (place === 0 ? 1 : 0)),
  };
  return { type, asked, options, rows: [row] };
}

export interface DraftChanges {
  readonly id?: string;
  readonly base?: DecisionFolder;
  readonly questions?: readonly LearnedQuestion[];
  readonly embedder?: LearnedDraft['model']['embedder'];
  readonly dimensions?: number;
}

export async function draftOf(dataDir: string, changes: DraftChanges = {}): Promise<LearnedDraft> {
  const base = changes.base ?? (await readTinyBase());
  const { dimensions = DIMENSIONS, id = 'support', embedder } = changes;
  const questions = changes.questions ?? [learnedQuestion(WHERE, 1, dimensions)];
  return {
    dataDir,
    model: { id, base: { id: base.manifest.id, digest: base.digest }, embedder, dimensions, questions },
    rows: [frozenQuestion(WHERE, dimensions)],
    base: base.manifest,
    now: new Date('2026-11-22T12:00:00Z'),
  };
}

/** @returns its path */
export async function layLearned(dataDir: string, changes: DraftChanges = {}): Promise<string> {
  const draft = await draftOf(dataDir, changes);
  await writeLearnedFolder(draft);
  return join(dataDir, 'models', draft.model.id);
}
