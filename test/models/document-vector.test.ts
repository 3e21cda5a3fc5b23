// The vectors that the shipped `kev` gives of a document: the mean of the last layer's values, and what a question saw in it,
// with the same bits on every way through the workers: new, passing, kept, grown, in parts, in slices, whatever is asked.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import type { DecideReply, DecideTask } from '../../src/runtime/messages.ts';
import { floatValues, int64Tensor, openGraph } from '../../src/runtime/session.ts';
import { openTokenizer } from '../../src/runtime/tokenizer/open-tokenizer.ts';
import { isWordPiece } from '../../src/runtime/tokenizer/tokenizer.ts';
import type { WorkerPool } from '../../src/runtime/worker-pool.ts';
import { KEV_FOLDER, openKevPool } from './kev-pool.ts';

const MIB = 1024 * 1024;
const modelId = 'kev';
const [HEADS, HEAD_SIZE] = [12, 32];

const words = (count: number, salt: string): string =>
  Array.from({ length: count }, (_, i) => `${salt}${i % 7} parcel`).join(' ');
const angry: Question = { type: 'noul', instructions: 'Is the customer angry?', whenFalse: null, whenTrue: null };
const urgent: Question = { type: 'score', instructions: 'How urgent is it?', levels: ['can wait', 'today', 'now'] };
const wordy: Question = { ...angry, instructions: words(300, 'policy ') };
const long: Question = {
  type: 'choice',
  instructions: 'Which team?',
  options: Array.from({ length: 40 }, (_, i) => ({ name: `team ${i}`, description: words(10, `of ${i} `) })),
};
const DOCUMENTS: readonly (readonly [string, string])[] = [
  ['no words', ''],
  ['a sentence', 'I was charged twice for one parcel.'],
  ['one window', words(60, 'short ')],
  ['several windows', words(500, 'longer ')],
];

let folder: string;
let keeping: WorkerPool;
let bare: WorkerPool;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'umpire-vector-'));
  keeping = await openKevPool(folder, 256 * MIB);
  bare = await openKevPool(folder, 0);
});

afterAll(async () => {
  for (const pool of [keeping, bare]) await pool.close();
  await rm(folder, { recursive: true, force: true });
});

function decide(
  pool: WorkerPool,
  state: string,
  questions: readonly Question[],
  more: Partial<DecideTask> = {},
): Promise<DecideReply> {
  return pool.run({ kind: 'decide', modelId, state, questions, wantsVectors: true, ...more }, 0);
}

async function encode(pool: WorkerPool, state: string) {
  const memory = new SharedArrayBuffer(160 * MIB);
  const encoded = await Promise.all(
    [0, 1].map((share) => pool.run({ kind: 'encode', modelId, state, questions: [], share, shares: 2, memory }, share)),
  );
  return { windows: encoded.flatMap(({ windows }) => windows), memory };
}

/** From the graph itself, for a document of one window. */
async function meanByHand(state: string): Promise<number[]> {
  const tokenizer = await openTokenizer(KEV_FOLDER);
  if (!isWordPiece(tokenizer)) throw new Error('kev reads WordPiece');
  const { cls, sep } = tokenizer.special;
  const ids = [cls, ...tokenizer.encode(state), sep];
  const graph = await openGraph(join(KEV_FOLDER, 'encode.int8.onnx'), { device: 'cpu', threads: 1 });
  const zero = int64Tensor([0], [1]);
  const outputs = await graph.run({ token_ids: int64Tensor(ids, [1, ids.length]), segment: zero, window_index: zero });
  const values = floatValues(outputs['value_5']);
  await graph.close();
  return Array.from({ length: HEADS * HEAD_SIZE }, (_, at) => {
    const [head, i] = [Math.floor(at / HEAD_SIZE), at % HEAD_SIZE];
    let sum = 0;
    for (let token = 0; token < ids.length; token++) sum += values[(head * ids.length + token) * HEAD_SIZE + i] ?? 0;
    return Math.fround(sum / ids.length);
  });
}

describe("a document's vector", () => {
  it('is the mean of the last values over all tokens, specials included', async () => {
    for (const [, state] of DOCUMENTS.slice(0, 3)) {
      expect([...((await decide(bare, state, [angry])).vector ?? [])]).toEqual(await meanByHand(state));
    }
  });

  it('is not given where nobody asks for it, and changes no answer', async () => {
    for (const isPassing of [true, false]) {
      const plain = await decide(bare, DOCUMENTS[1]?.[1] ?? '', [angry], { wantsVectors: false, isPassing });
      const asked = await decide(bare, DOCUMENTS[1]?.[1] ?? '', [angry], { isPassing });
      expect(plain).not.toHaveProperty('vector');
      expect(asked.probabilities).toEqual(plain.probabilities);
    }
  });

  it.each(DOCUMENTS)('of %s has the same bits, passing, new, kept and beside any question', async (_what, state) => {
    const { vector } = await decide(bare, state, [angry]);
    expect(vector).toHaveLength(HEADS * HEAD_SIZE);
    const replies = [
      await decide(keeping, state, [angry], { isPassing: true }),
      await decide(keeping, state, [angry]),
      await decide(keeping, state, [angry], { isPassing: true }),
      await decide(keeping, state, [wordy, long, urgent]),
      await decide(bare, state, [urgent, angry], { isPassing: true }),
      await decide(bare, state, [wordy]),
    ];
    for (const reply of replies) expect(reply.vector).toEqual(vector);
    expect(replies[2]?.keptTokens).toBe(replies[2]?.stateTokens);
  });

  it('of one that grew, kept in part, is that of a new one', async () => {
    const state = words(400, 'grown ');
    await decide(keeping, state, [angry]);
    const longer = `${state} ${words(100, 'more ')}`;
    const grown = await decide(keeping, longer, [angry]);
    expect(grown.keptTokens).toBeGreaterThan(0);
    expect(grown.vector).toEqual((await decide(bare, longer, [angry])).vector);
  });

  it.each(DOCUMENTS)('of %s has the same bits in parts and slices, on any worker', async (_what, state) => {
    const { vector } = await decide(bare, state, [angry]);
    for (const pool of [bare, keeping]) {
      const document = await encode(pool, state);
      const common = { modelId, document, wantsVectors: true } as const;
      for (const worker of [0, 1]) {
        const answered = await pool.run({ kind: 'answer', questions: [urgent], ...common }, worker);
        expect(answered.vector).toEqual(vector);
        // Of so many slices the first has no run to do.
        for (const slices of [2, 1000]) {
          const task = { kind: 'answer-slice', question: long, slice: 0, slices, ...common } as const;
          const sliced = await pool.run(task, worker);
          expect([sliced.vector, sliced.vectors.length > 0]).toEqual(
            slices === 2 ? [vector, true] : [undefined, false],
          );
        }
      }
    }
  });
});

describe("a question's view", () => {
  const asked = [angry, urgent, wordy, long];

  async function viewsAlone(state: string): Promise<Float32Array[]> {
    const replies: DecideReply[] = [];
    for (const question of asked) replies.push(await decide(bare, state, [question], { isPassing: true }));
    return replies.flatMap(({ views }) => views ?? []);
  }

  it.each([
    ['a sentence', 'I was charged twice for one parcel.'],
    ['several windows', words(150, 'longer ')],
  ])('of %s has the same bits, passing, new, kept, beside others and in parts', async (_what, state) => {
    const alone = await viewsAlone(state);
    expect(alone.map(({ length }) => length)).toEqual(asked.map(() => HEADS * HEAD_SIZE));
    expect(new Set(alone.map((view) => view.join())).size).toBe(asked.length);
    expect((await decide(keeping, state, asked)).views).toEqual(alone);
    expect((await decide(keeping, state, asked.toReversed())).views).toEqual(alone.toReversed());
    expect((await decide(keeping, state, [angry])).views).toEqual([alone[0]]);
    const common = { modelId, document: await encode(bare, state), wantsVectors: true } as const;
    expect((await bare.run({ kind: 'answer', questions: [urgent, angry], ...common }, 0)).views).toEqual([
      alone[1],
      alone[0],
    ]);
    const task = { kind: 'answer-slice', question: long, slices: 2, ...common } as const;
    expect((await bare.run({ ...task, slice: 0 }, 1)).views).toEqual(alone.slice(-1));
    expect(await bare.run({ ...task, slice: 1 }, 1)).not.toHaveProperty('views');
  });

  it('does not hang on the options, and is not given where nobody asks for it', async () => {
    const [, state = ''] = DOCUMENTS[1] ?? [];
    const which = { ...long, options: ['a refund', 'a parcel'].map((name) => ({ name, description: null })) };
    const more = { ...which, options: [...which.options, { name: 'none of these', description: null }] };
    const [two, three] = [await decide(bare, state, [which]), await decide(bare, state, [more])];
    // Other options beside it scale the run's integers otherwise: near, not the same bits.
    const [a, b] = [two.views?.[0] ?? [], three.views?.[0] ?? []];
    expect(cosine([...a], [...b])).toBeGreaterThan(0.999);
    expect(await decide(bare, state, [which], { wantsVectors: false })).not.toHaveProperty('views');
  });
});

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
