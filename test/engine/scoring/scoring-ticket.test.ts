// Jobs that are rows, in the engine over a pool and a clock that the test moves: which tasks they become, in what order, and
// what comes of the replies.

import { describe, expect, it } from 'vitest';
import type { ChoiceAnswer } from '../../../src/domain/answer.ts';
import { AppError } from '../../../src/domain/errors.ts';
import type { Question } from '../../../src/domain/question.ts';
import type { DecideJob, RerankJob } from '../../../src/engine/engine.ts';
import { MemoryPlan } from '../../../src/engine/loading/memory-plan.ts';
import { PooledEngine } from '../../../src/engine/pooled-engine.ts';
import type { LoadedModelReport, TimedCase } from '../../../src/runtime/load-report.ts';
import type { DecideTask, ReplyOf, ScorePairsTask, Task } from '../../../src/runtime/messages.ts';
import type {
  EntailmentManifest,
  Manifest,
  MarkerEncoderManifest,
  RerankerManifest,
  SplitEncoderManifest,
} from '../../../src/runtime/model-folder/manifest.ts';
import type { Frames } from '../../../src/runtime/tokenizer/frames.ts';
import { BERT_FRAMES } from '../bert-frames.ts';
import { COMMON_FIELDS } from '../manifest-fields.ts';
import { ManualClock } from '../manual-clock.ts';
import { ManualPool, settle } from '../manual-pool.ts';

const SOURCE = { endpoint: 'https://hub.example', repo: 'someone/ranker', commit: 'a'.repeat(40), files: [] };
const graph_io = { inputs: { ids: 'input_ids' }, output: 'logits' };
const temperatures = { choice: {}, noul: {}, score: {} };
const ranker: RerankerManifest = {
  ...COMMON_FIELDS,
  id: 'ranker',
  type: 'reranker',
  family: 'pair-scorer',
  graph_io,
  limits: { pair_tokens: 512 },
  source: SOURCE,
};
const judge: EntailmentManifest = {
  ...COMMON_FIELDS,
  id: 'judge',
  type: 'decision',
  family: 'pair-scorer',
  graph_io,
  limits: { pair_tokens: 512 },
  labels: { count: 3, entailment: 2, contradiction: 0 },
  hypothesis: 'It is {option}.',
  temperatures,
  calibrated: false,
};
const marker: MarkerEncoderManifest = {
  ...COMMON_FIELDS,
  id: 'marker',
  type: 'decision',
  family: 'marker-encoder',
  limits: { row_tokens: 512, question_tokens: 192, option_tokens: 48 },
  special_tokens: { cls: '[CLS]', sep: '[SEP]', mask: '[MASK]' },
  temperatures,
  calibrated: true,
};
const decider: SplitEncoderManifest = {
  ...COMMON_FIELDS,
  id: 'decider',
  type: 'decision',
  family: 'split-encoder',
  limits: { state_tokens: 8192, question_tokens: 32_768 },
  shape: { layers: 1, heads: 1, head_size: 1 },
  windows: { tokens: 256, max_index: 63 },
  branches: { max_tokens: 512, max_scores: 1000 },
  temperatures,
};
const FRAMES: Frames = {
  ...BERT_FRAMES,
  pair: [...BERT_FRAMES.single, { text: 'second', type: 1 }, { ids: [102], type: 1 }],
};
const MANIFESTS: readonly Manifest[] = [ranker, judge, marker, decider];
const times = { tokenizeMs: 1, inferMs: 2 };
const caller = { keyId: 'key', signal: new AbortController().signal };
const noul = (more: object = {}): Question => ({
  type: 'noul',
  instructions: 'It rains.',
  whenFalse: null,
  whenTrue: null,
  ...more,
});
const choice = (...names: string[]): Question => ({
  type: 'choice',
  instructions: 'Which?',
  options: names.map((name) => ({ name, description: null })),
});
const ranking = (documents: readonly string[], more: Partial<RerankJob> = {}): RerankJob => {
  return { modelId: 'ranker', query: 'q', documents, truncate: false, ...more };
};
const decision = (modelId: string, ...questions: Question[]): DecideJob => ({ modelId, state: 'a state', questions });

/** @param rowMs what a row of 100 tokens takes, as its golden cases say */
async function ready({ workers = 1, rowMs = 1 } = {}) {
  const [pool, clock] = [new ManualPool(workers), new ManualClock()];
  const engine = new PooledEngine({
    plan: new MemoryPlan({ models: [], cacheBytes: 0, budgetBytes: 0, workers: 1 }),
    folders: MANIFESTS.map((manifest) => ({
      path: '/',
      manifest,
      frames: FRAMES,
      isWordPiece: true,
      digest: 'sha256:1',
    })),
    openCounter: async () => undefined,
    pool,
    clock,
    threadsPerWorker: 1,
    stateCacheBytes: 0,
    queue: { maxJobs: 100, maxCostMs: 60_000, deadlineMs: 60_000 },
    probe: { intervalMs: 0, timeoutMs: 3000 },
    onEvent: () => undefined,
  });
  const timedCase = { characters: 500, tokens: 100, questions: [], wallMs: rowMs };
  const timedCases: TimedCase[] = Array.from({ length: 20 }, () => timedCase);
  const reportOf = (modelId: string): LoadedModelReport => ({
    modelId,
    precision: 'int8',
    device: 'cpu',
    loadMs: 1,
    optimizedGraphs: 'none',
    readsSharedMemory: false,
    timedCases,
  });
  pool.finishLoading({ device: 'cpu', models: ['ranker', 'judge', 'marker'].map(reportOf), notes: [], warnings: [] });
  await engine.ready;
  return { engine, pool, clock };
}

/** A worker's reply: the logit of a text is its length. */
function replyTo(task: Task): ReplyOf[Task['kind']] {
  if (task.kind === 'count-pairs') return { inputTokens: tokensOf(task) };
  const { pairs } = task as ScorePairsTask;
  const truncated = task.kind === 'score-pairs' && task.truncate ? pairs.map(({ place }) => place).slice(-1) : [];
  const logits = pairs.map(({ second }) => Float32Array.of(0, 0, second.length));
  const scores = pairs.map(({ second }) => Float32Array.of(second.length));
  const isRanker = (task as ScorePairsTask).modelId === 'ranker';
  return { ...times, logits: isRanker ? scores : logits, inputTokens: tokensOf(task as ScorePairsTask), truncated };
}

const tokensOf = ({ first, pairs }: Pick<ScorePairsTask, 'first' | 'pairs'>): number =>
  pairs.reduce((sum, { second }) => sum + first.length + second.length, 0);

/** Ends running tasks, the newest first, until none is left. @returns all tasks in the order in which they ended */
async function finishAll(pool: ManualPool): Promise<Task[]> {
  const ended: Task[] = [];
  for (let newest = pool.started.at(-1); newest !== undefined; newest = pool.started.at(-1)) {
    ended.push(newest.task);
    await pool.finishOn(newest.worker, replyTo(newest.task));
  }
  return ended;
}

const pairsOf = (task: Task | undefined) => (task as ScorePairsTask).pairs;

describe('cards', () => {
  it('say where a model came from, whether it was fitted, and how much it takes', async () => {
    const { engine } = await ready();
    const told = engine.models.map(({ id, type, source, isCalibrated, limits }) => [
      id,
      type,
      source,
      isCalibrated,
      limits,
    ]);
    expect(told).toEqual([
      ['ranker', 'reranker', `someone/ranker@${'a'.repeat(40)}`, undefined, { pair_tokens: 509 }],
      ['judge', 'decision', undefined, false, { pair_tokens: 509, request_rows: 2048 }],
      ['marker', 'decision', undefined, true, { ...marker.limits, request_rows: 2048 }],
      ['decider', 'decision', undefined, true, decider.limits],
    ]);
  });
});

describe('a reranking', () => {
  it('is one small task, whose replies become scores', async () => {
    const { engine, pool } = await ready();
    const result = engine.ticketFor(ranking(['four', 'a', 'two'], { truncate: true }), caller).run();
    const [task] = await finishAll(pool);
    expect(task).toEqual({
      kind: 'score-pairs',
      modelId: 'ranker',
      first: 'q',
      // The longest first: one that is too long is refused before the others are run.
      pairs: [
        { place: 0, second: 'four' },
        { place: 2, second: 'two' },
        { place: 1, second: 'a' },
      ],
      truncate: true,
    });
    expect(await result).toEqual({
      scores: [4, 1, 3],
      inputTokens: 11,
      truncated: [1],
      timings: { queueMs: 0, tokenizeMs: 1, inferMs: 2 },
      source: { answer: 'run', keptTokens: 0 },
    });
  });

  it('goes to all idle workers, and its scores come back in the order of the request', async () => {
    const { engine, pool } = await ready({ workers: 2, rowMs: 5 });
    const documents = Array.from({ length: 40 }, (_, i) => 'word '.repeat(100 + ((i * 7) % 40)));
    const result = engine.ticketFor(ranking(documents, { truncate: true }), caller).run();
    expect(pool.started.map(({ worker }) => worker)).toEqual([0, 1]);
    const tasks = await finishAll(pool);
    expect(tasks.length).toBeGreaterThan(2);
    const { scores, truncated, inputTokens } = await result;
    expect(scores).toEqual(documents.map(({ length }) => length));
    expect(truncated).toEqual(tasks.map((task) => pairsOf(task).at(-1)?.place).sort((a, b) => Number(a) - Number(b)));
    expect(inputTokens).toBe(documents.reduce((sum, { length }) => sum + 1 + length, 0));
  });

  it('lets a decision through after one part, and goes on', async () => {
    const { engine, pool } = await ready({ rowMs: 30 });
    const long = 'word '.repeat(100);
    const result = engine.ticketFor(ranking([long, long, long]), caller).run();
    expect(pairsOf(pool.started[0]?.task)).toHaveLength(1);
    const answering = engine.ticketFor(decision('decider', noul()), { ...caller, keyId: 'other' }).run();
    await pool.finish(replyTo(pool.started[0]?.task as Task));
    expect(pool.started.map(({ task }) => task.kind)).toEqual(['decide']);
    const counted = { stateTokens: 3, keptTokens: 0, isKept: false };
    await pool.finish({ ...times, ...counted, probabilities: [[0.25, 0.75]], inputTokens: 7 });
    expect((await answering).answers).toEqual([{ type: 'noul', noul: 0.75 }]);
    expect(await finishAll(pool)).toHaveLength(2);
    expect((await result).scores).toEqual([500, 500, 500]);
  });

  it('counts by tasks of its own what it will bill', async () => {
    const { engine, pool } = await ready();
    const documents = Array.from({ length: 5 }, (_, i) => 'x'.repeat(45_000 + i));
    const counting = engine.ticketFor(ranking(documents), caller).countTokens();
    const tasks = await finishAll(pool);
    expect(tasks.map((task) => [task.kind, pairsOf(task).map(({ place }) => place)])).toEqual([
      ['count-pairs', [0, 1]],
      ['count-pairs', [2, 3]],
      ['count-pairs', [4]],
    ]);
    const run = engine.ticketFor(ranking(documents), caller).run();
    await finishAll(pool);
    expect(await counting).toBe((await run).inputTokens);
  });

  it('fails with what a part of it was refused for', async () => {
    const { engine, pool } = await ready({ rowMs: 30 });
    const long = 'word '.repeat(100);
    const result = engine.ticketFor(ranking([long, long]), caller).run();
    const failed = expect(result).rejects.toMatchObject({ code: 'context_length_exceeded', param: 'documents[0]' });
    await pool.fail(new AppError('context_length_exceeded', 'too long', { param: 'documents[0]' }));
    await failed;
    expect(pool.started).toEqual([]);
    expect(engine.status()).toMatchObject({ queuedJobs: 0, busyWorkers: 0 });
  });

  it('is dropped when its caller leaves before it begins, and ends when the server stops after that', async () => {
    const { engine, pool } = await ready({ rowMs: 30 });
    const long = 'word '.repeat(100);
    const first = engine.ticketFor(ranking([long, long]), caller).run();
    const leaver = new AbortController();
    const second = engine.ticketFor(ranking(['b']), { keyId: 'b', signal: leaver.signal }).run();
    leaver.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    let isDrained = false;
    const draining = engine.drain().then(() => {
      isDrained = true;
    });
    await settle();
    expect(isDrained).toBe(false);
    await expect(engine.ticketFor(ranking(['c']), caller).run()).rejects.toMatchObject({ code: 'overloaded' });
    expect(await finishAll(pool)).toHaveLength(2);
    expect((await first).scores).toEqual([500, 500]);
    await draining;
  });
});

describe('a decision of a model of entailment', () => {
  it('is the statements of all its questions beside the state', async () => {
    const { engine, pool } = await ready();
    const questions = [choice('yes', 'never'), noul(), noul({ whenFalse: 'It is dry.', whenTrue: 'It is wet.' })];
    const result = engine.ticketFor(decision('judge', ...questions), caller).run();
    const [task] = await finishAll(pool);
    expect(task).toMatchObject({ kind: 'score-pairs', first: 'a state', truncate: false });
    const statements = pairsOf(task).map(({ place, second }) => [place, second]);
    expect(statements.sort()).toEqual([
      [0, 'It is never.'],
      [0, 'It is yes.'],
      [1, 'It rains.'],
      [2, 'It is dry.'],
      [2, 'It is wet.'],
    ]);
    const { answers } = await result;
    const [first, second, third] = answers;
    // Logits are lengths: 10 and 12; 9 beside 0; 10 and 10.
    expect((first as ChoiceAnswer).probabilities.map(({ probability }) => probability)).toEqual([
      expect.closeTo(1 / (1 + Math.exp(2)), 12),
      expect.closeTo(1 / (1 + Math.exp(-2)), 12),
    ]);
    expect(second).toEqual({ type: 'noul', noul: expect.closeTo(1 / (1 + Math.exp(-9)), 12) });
    expect(third).toEqual({ type: 'noul', noul: 0.5 });
  });

  it('gives each option the same bits in any order, spread over workers', async () => {
    const { engine, pool } = await ready({ workers: 2, rowMs: 30 });
    const names = ['a', 'bcd', 'ef', 'ghijk', 'lmno'];
    const probabilities: Map<string, number>[] = [];
    for (const order of [names, names.toReversed(), ['ef', 'a', 'lmno', 'bcd', 'ghijk']]) {
      const state = 'word '.repeat(60);
      const result = engine.ticketFor({ ...decision('judge', choice(...order)), state }, caller).run();
      await finishAll(pool);
      const answer = (await result).answers[0] as ChoiceAnswer;
      probabilities.push(new Map(answer.probabilities.map(({ name, probability }) => [name, probability])));
      expect(answer.choice).toBe('ghijk');
    }
    for (const name of names) expect(new Set(probabilities.map((found) => found.get(name))).size).toBe(1);
  });

  it('counts what it bills: the state once for each statement', async () => {
    const { engine, pool } = await ready();
    const job = decision('judge', choice('a', 'b', 'c'));
    const counting = engine.ticketFor(job, caller).countTokens();
    expect(pool.started[0]?.task.kind).toBe('count-pairs');
    await finishAll(pool);
    const run = engine.ticketFor(job, caller).run();
    await finishAll(pool);
    expect(await counting).toBe(3 * ('a state'.length + 'It is a.'.length));
    expect((await run).inputTokens).toBe(await counting);
  });

  it.each([
    [
      '2,049 statements',
      Array.from({ length: 9 }, () => choice(...Array.from({ length: 228 }, (_, i) => `${i}`))),
      'questions',
    ],
    ['2,049 statements of pairs', Array.from({ length: 1025 }, () => noul({ whenFalse: 'no' })), 'questions'],
  ])('is refused before anything is run: %s', async (_what, questions, param) => {
    const { engine, pool } = await ready();
    const ticket = engine.ticketFor(decision('judge', ...questions), caller);
    const refusal = {
      code: 'invalid_request',
      param,
      message: expect.stringMatching(/^judge reads 205[02] rows .* at most 2048/),
    };
    await expect(ticket.run()).rejects.toMatchObject(refusal);
    await expect(ticket.countTokens()).rejects.toMatchObject(refusal);
    expect(pool.started).toEqual([]);
  });

  it('is refused before it is put together where long instructions would stand beside many options', async () => {
    const { engine } = await ready();
    const many = { ...choice(...Array.from({ length: 255 }, (_, i) => `${i}`)), instructions: 'x'.repeat(20_000) };
    const ticket = engine.ticketFor(decision('judge', noul(), many), caller);
    const param = 'questions[1].instructions';
    await expect(ticket.run()).rejects.toMatchObject({ code: 'context_length_exceeded', param });
  });
});

describe('a decision of a marker encoder', () => {
  it('is a row for each question, told by its place in the request', async () => {
    const { engine, pool } = await ready({ workers: 2, rowMs: 30 });
    const state = 'word '.repeat(80);
    const questions = [
      noul(),
      choice('a', 'b'),
      noul({ instructions: 'It rains, and does so since the day before yesterday.' }),
    ];
    const result = engine.ticketFor({ modelId: 'marker', state, questions }, caller).run();
    const found = new Map([
      [0, [0.25, 0.75]],
      [1, [0.9, 0.1]],
      [2, [0.5, 0.5]],
    ]);
    const places: number[] = [];
    for (let next = pool.started.at(-1); next !== undefined; next = pool.started.at(-1)) {
      const task = next.task as DecideTask;
      const own = task.places ?? [];
      expect(task.questions).toEqual(own.map((place) => questions[place]));
      places.push(...own);
      const probabilities = own.map((place) => found.get(place) ?? []);
      const counted = { stateTokens: 80, keptTokens: 0, isKept: false };
      await pool.finishOn(next.worker, { ...times, ...counted, probabilities, inputTokens: 90 * own.length });
    }
    expect(places.toSorted()).toEqual([0, 1, 2]);
    const { answers, inputTokens } = await result;
    expect(inputTokens).toBe(270);
    expect(answers).toMatchObject([{ noul: 0.75 }, { choice: 'a' }, { noul: 0.5 }]);
  });

  it('is counted by one task', async () => {
    const { engine, pool } = await ready();
    const job = decision('marker', noul(), choice('a'));
    const counting = engine.ticketFor(job, caller).countTokens();
    expect(pool.started[0]?.task).toEqual({ kind: 'count-decision', ...job });
    await pool.finish({ inputTokens: 42 });
    expect(await counting).toBe(42);
  });

  it('is refused with more questions than a request may have rows', async () => {
    const { engine } = await ready();
    const ticket = engine.ticketFor(decision('marker', ...Array.from({ length: 2049 }, () => noul())), caller);
    await expect(ticket.run()).rejects.toMatchObject({ code: 'invalid_request', param: 'questions' });
  });
});

describe('a job for a model of another kind', () => {
  it.each([
    ['a decision', decision('ranker', noul())],
    ['a reranking by a model of entailment', ranking(['a'], { modelId: 'judge' })],
    ['a reranking by a marker encoder', ranking(['a'], { modelId: 'marker' })],
    ['a reranking by a decision model', ranking(['a'], { modelId: 'decider' })],
  ])('is refused: %s', async (_what, job) => {
    const { engine } = await ready();
    await expect(engine.ticketFor(job, caller).run()).rejects.toMatchObject({ code: 'model_type_mismatch' });
  });

  it('is refused where there is no such model', async () => {
    const { engine } = await ready();
    const ticket = engine.ticketFor(ranking(['a'], { modelId: 'nobody' }), caller);
    await expect(ticket.run()).rejects.toMatchObject({ code: 'model_not_found' });
  });
});
