// What a worker keeps of documents never shows in an answer: random documents, new, again and grown, whole and in parts,
// with much room, little and none.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import type { DecideReply } from '../../src/runtime/messages.ts';
import { toQuestion } from '../../src/runtime/model-folder/golden.ts';
import type { WorkerPool } from '../../src/runtime/worker-pool.ts';
import { openKevPool } from './kev-pool.ts';
import { randomRequests } from './random-requests.ts';

const MIB = 1024 * 1024;
const modelId = 'kev';
const requests = randomRequests(5, 60)
  .filter(({ limits }) => limits.windowTokens === 256)
  .slice(0, 6)
  .map(({ state, questions }) => ({ state, questions: questions.slice(0, 2).map(toQuestion) }));

const words = (count: number, salt: string): string =>
  Array.from({ length: count }, (_, i) => `${salt}${i % 7} parcel`).join(' ');
const urgent: Question = { type: 'score', instructions: 'How urgent is it?', levels: ['can wait', 'today', 'now'] };
const angry: Question = {
  type: 'noul',
  instructions: 'Is the customer angry?',
  whenFalse: null,
  whenTrue: 'they shout',
};
const wordy: Question = { ...angry, instructions: words(300, 'policy ') };

let folder: string;
/** Workers 0 and 1 of each. */
let roomy: WorkerPool;
let tight: WorkerPool;
let bare: WorkerPool;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'umpire-kept-'));
  roomy = await openKevPool(folder, 256 * MIB);
  tight = await openKevPool(folder, 24 * MIB);
  bare = await openKevPool(folder, 0);
});

afterAll(async () => {
  for (const pool of [roomy, tight, bare]) await pool.close();
  await rm(folder, { recursive: true, force: true });
});

const decide = (pool: WorkerPool, state: string, questions: readonly Question[], worker = 0): Promise<DecideReply> =>
  pool.run({ kind: 'decide', modelId, state, questions }, worker);

/** One that nobody is expected to ask about again. */
const decidePassing = (pool: WorkerPool, state: string, questions: readonly Question[]): Promise<DecideReply> =>
  pool.run({ kind: 'decide', modelId, state, questions, isPassing: true }, 0);

/** A decision in parts: windows by both workers, then each question by either. */
async function decideInParts(pool: WorkerPool, state: string, questions: readonly Question[]) {
  const memory = new SharedArrayBuffer(160 * MIB);
  const encoded = await Promise.all(
    [0, 1].map((share) => pool.run({ kind: 'encode', modelId, state, questions: [], share, shares: 2, memory }, share)),
  );
  const document = { windows: encoded.flatMap(({ windows }) => windows), memory };
  const probabilities: (readonly number[])[] = [];
  for (const [place, question] of questions.entries()) {
    const reply = await pool.run({ kind: 'answer', modelId, questions: [question], document }, place % 2);
    probabilities.push(...reply.probabilities);
  }
  return {
    probabilities,
    keptTokens: encoded.reduce((sum, reply) => sum + reply.keptTokens, 0),
    windows: document.windows,
  };
}

describe('a kept document', () => {
  it('gives the bits of one that is read for the first time, whole and in parts', async () => {
    for (const { state, questions } of requests) {
      const { probabilities, inputTokens } = await decide(bare, state, questions);
      for (const pool of [roomy, tight]) {
        const [first, second] = [await decide(pool, state, questions), await decide(pool, state, questions)];
        expect([first.probabilities, second.probabilities]).toEqual([probabilities, probabilities]);
        expect([first.inputTokens, second.inputTokens]).toEqual([inputTokens, inputTokens]);
        expect((await decideInParts(pool, state, questions)).probabilities).toEqual(probabilities);
      }
      expect((await decideInParts(bare, state, questions)).probabilities).toEqual(probabilities);
    }
  });

  it('is not encoded again', async () => {
    const state = words(700, 'again ');
    const first = await decide(roomy, state, [angry]);
    const second = await decide(roomy, state, [urgent]);
    expect([first.keptTokens, second.keptTokens]).toEqual([0, first.stateTokens]);
    expect((await decide(roomy, state, [angry], 1)).keptTokens).toBe(0);
    expect((await decide(bare, state, [angry])).keptTokens).toBe(0);
    expect((await decide(bare, state, [angry])).keptTokens).toBe(0);
  });

  it('that only passes is not kept when it is short, is taken where it is kept, and has the same bits', async () => {
    const short = words(60, 'passing ');
    const { probabilities } = await decide(bare, short, [angry]);
    const told: [boolean, number][] = [];
    for (const ask of [decidePassing, decidePassing, decide, decidePassing]) {
      const reply = await ask(roomy, short, [angry]);
      expect(reply.probabilities).toEqual(probabilities);
      told.push([reply.isKept, reply.keptTokens]);
    }
    const { stateTokens } = await decide(bare, short, [angry]);
    expect(told).toEqual([
      [false, 0],
      [false, 0],
      [true, 0],
      [true, stateTokens],
    ]);
    const long = words(700, 'passing too ');
    expect(await decidePassing(roomy, long, [angry])).toMatchObject({ isKept: true, keptTokens: 0 });
    expect(await decidePassing(bare, short, [angry])).toMatchObject({ isKept: false, probabilities });
  });

  it('that grew is encoded from its last window on, with the bits of a new one', async () => {
    let state = '';
    let before = 0;
    for (let turn = 0; turn < 7; turn++) {
      state += `${words(90, `turn ${turn} `)}\n`;
      const grown = await decide(roomy, state, [angry, urgent]);
      expect(grown.probabilities).toEqual((await decide(bare, state, [angry, urgent])).probabilities);
      expect(grown.keptTokens).toBeGreaterThanOrEqual(before - 256);
      before = grown.stateTokens;
    }
    expect(before).toBeGreaterThan(1200);
  });

  it('that fills most of the room still passes its windows on when it grows', async () => {
    const state = words(330, 'full ');
    const first = await decide(tight, state, [angry]);
    const longer = `${state} ${words(20, 'more ')}`;
    const grown = await decide(tight, longer, [angry]);
    expect(first.stateTokens * 2 * 18_432).toBeGreaterThan(24 * MIB);
    expect(grown.keptTokens).toBeGreaterThanOrEqual(first.stateTokens - 256);
    expect((await decide(tight, longer, [angry])).keptTokens).toBe(grown.stateTokens);
    expect(grown.probabilities).toEqual((await decide(bare, longer, [angry])).probabilities);
  });

  it('larger than all the room is read like any other', async () => {
    const state = words(1200, 'large ');
    const { probabilities } = await decide(bare, state, [angry]);
    for (let time = 0; time < 2; time++) {
      const reply = await decide(tight, state, [angry]);
      expect([reply.probabilities, reply.keptTokens]).toEqual([probabilities, 0]);
    }
  });

  it('lends its windows to the shares of a decision in parts', async () => {
    const state = words(900, 'parts ');
    const { stateTokens, probabilities } = await decide(roomy, state, [angry]);
    await decide(roomy, state, [angry], 1);
    const parts = await decideInParts(roomy, `${state} ${words(300, 'then ')}`, [angry]);
    expect(parts.keptTokens).toBeGreaterThanOrEqual(stateTokens - 256);
    const again = await decideInParts(roomy, state, [angry]);
    expect([again.keptTokens, again.probabilities]).toEqual([stateTokens, probabilities]);
  });

  it('is kept by the worker that joined its shares', async () => {
    const state = words(800, 'joined ');
    const { windows, probabilities } = await decideInParts(roomy, state, [angry, urgent]);
    const reply = await decide(roomy, state, [angry, urgent], 1);
    const tokens = windows.reduce((sum, window) => sum + window.tokens, 0);
    expect([reply.keptTokens, reply.probabilities]).toEqual([tokens, probabilities]);
  });

  it('is read where workers have written it, with a Node whose library can', async () => {
    const { models } = await bare.loaded;
    expect(models.map(({ readsSharedMemory }) => readsSharedMemory)).toEqual([!process.version.startsWith('v22.')]);
  });

  it('is another one where its windows have other places or other instructions go with them', async () => {
    const [a, b] = [words(82, 'left '), words(82, 'right ')];
    for (const state of [`${a} ${b}`, `${b} ${a}`, a, b, wordy.instructions]) {
      const questions = [angry, wordy];
      expect((await decide(roomy, state, questions)).probabilities).toEqual(
        (await decide(bare, state, questions)).probabilities,
      );
    }
  });
});
