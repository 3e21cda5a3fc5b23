// The shipped `kev` with and without its graph for one run: the same bits, whether its document is kept or not.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import { SplitEncoder } from '../../src/runtime/families/split-encoder/split-encoder.ts';
import { StateMemory } from '../../src/runtime/families/split-encoder/state-memory.ts';
import type { SplitEncoderManifest } from '../../src/runtime/model-folder/manifest.ts';
import { type GraphSession, openGraph } from '../../src/runtime/session.ts';
import { openTokenizer } from '../../src/runtime/tokenizer/open-tokenizer.ts';
import { isWordPiece } from '../../src/runtime/tokenizer/tokenizer.ts';

const FOLDER = fileURLToPath(new URL('../../models/kev', import.meta.url));
const KEPT_BYTES = 32 * 1024 * 1024;
const SCRATCH_BYTES = 12 * 1024 * 1024;

const questions: Question[] = [
  {
    type: 'choice',
    instructions: 'Which team?',
    options: ['billing', 'technical', 'shipping'].map((name) => ({ name, description: null })),
  },
  { type: 'score', instructions: 'How urgent?', levels: ['can wait', 'today', 'at once'] },
  { type: 'noul', instructions: 'Is it a complaint?', whenFalse: null, whenTrue: 'they complain' },
];
const states = ['', 'I was charged twice.', 'The parcel came late and nobody answers. '.repeat(20)];

let sessions: Record<'encode' | 'answer' | 'head' | 'decide', GraphSession>;
let makeEncoder: (bytes: number, isWhole: boolean) => SplitEncoder;
let runs = 0;

beforeAll(async () => {
  const manifest = JSON.parse(await readFile(join(FOLDER, 'model.json'), 'utf8')) as SplitEncoderManifest;
  const open = async (role: string) =>
    openGraph(join(FOLDER, manifest.graphs['int8']?.[role] ?? ''), { device: 'cpu', threads: 1 });
  const decide = await open('decide');
  sessions = { encode: await open('encode'), answer: await open('answer'), head: await open('head'), decide };
  const counted: GraphSession = {
    ...decide,
    run: (...given) => {
      runs++;
      return decide.run(...given);
    },
    runInto: (...given) => {
      runs++;
      return decide.runInto(...given);
    },
  };
  const tokenizer = await openTokenizer(FOLDER);
  if (!isWordPiece(tokenizer)) throw new Error('kev reads WordPiece');
  makeEncoder = (bytes, isWhole) => {
    const decideOrNot = isWhole ? counted : undefined;
    return new SplitEncoder({
      manifest,
      tokenizer,
      memory: new StateMemory({ keptBytes: bytes, scratchBytes: SCRATCH_BYTES }),
      ...sessions,
      decide: decideOrNot,
    });
  };
}, 180_000);

afterAll(async () => {
  for (const session of Object.values(sessions)) await session.close();
});

async function answer(encoder: SplitEncoder, state: string, asked: Question[]) {
  return (await encoder.decide({ state, questions: asked })).probabilities;
}

describe('a decision in one run', () => {
  it.each([0, KEPT_BYTES])('gives the bits of three runs, %d bytes kept', { timeout: 60_000 }, async (bytes) => {
    for (const state of states) {
      const [whole, split] = [makeEncoder(bytes, true), makeEncoder(bytes, false)];
      for (const question of questions) {
        const before = runs;
        expect(await answer(whole, state, [question])).toEqual(await answer(split, state, [question]));
        if (bytes === 0) expect(runs).toBe(before + 1);
      }
      // The first about a new document goes with it, the others read what that run left.
      const fresh = makeEncoder(bytes, true);
      expect(await answer(fresh, state, questions)).toEqual(await answer(split, state, questions));
      expect(await answer(fresh, state, questions)).toEqual(await answer(split, state, questions));
    }
  });

  it('is for documents of one window and short questions', { timeout: 60_000 }, async () => {
    const before = runs;
    const encoder = makeEncoder(0, true);
    await answer(encoder, 'A long story. '.repeat(200), questions);
    await answer(encoder, 'A short story.', [
      { type: 'noul', instructions: 'so '.repeat(150), whenFalse: null, whenTrue: null },
    ]);
    expect(runs).toBe(before);
  });
});
