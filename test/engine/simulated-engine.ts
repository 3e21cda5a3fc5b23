// The real engine over workers that only take time: a clock moved by hand, replies made up, durations by a formula of
// their own with noise, so that load can be offered for a minute within a second.

import type { AppError } from '../../src/domain/errors.ts';
import type { Question } from '../../src/domain/question.ts';
import type { DecideJob, Engine } from '../../src/engine/engine.ts';
import { MemoryPlan } from '../../src/engine/loading/memory-plan.ts';
import { PooledEngine, type PooledEngineOptions } from '../../src/engine/pooled-engine.ts';
import type { ReplyOf, Task } from '../../src/runtime/messages.ts';
import type { SplitEncoderManifest, TextEncoderManifest } from '../../src/runtime/model-folder/manifest.ts';
import type { InferencePool, PoolReport } from '../../src/runtime/worker-pool.ts';
import type { RandomSource } from '../models/random-source.ts';
import { BERT_FRAMES } from './bert-frames.ts';
import { COMMON_FIELDS } from './manifest-fields.ts';
import { ManualClock } from './manual-clock.ts';
import { settle } from './manual-pool.ts';

const WINDOW_TOKENS = 256;
/** Every word of a simulated text is one token. */
const CHARACTERS_PER_TOKEN = 5;

const decisions: SplitEncoderManifest = {
  ...COMMON_FIELDS,
  id: 'decider',
  type: 'decision',
  family: 'split-encoder',
  limits: { state_tokens: 8192, question_tokens: 32_768 },
  shape: { layers: 1, heads: 1, head_size: 1 },
  windows: { tokens: WINDOW_TOKENS, max_index: 63 },
  branches: { max_tokens: 512, max_scores: 1_000_000 },
  temperatures: { choice: {}, noul: {}, score: {} },
};
const embeddings: TextEncoderManifest = {
  ...COMMON_FIELDS,
  id: 'embedder',
  type: 'embedding',
  family: 'text-encoder',
  limits: { input_tokens: 256 },
  dimensions: 4,
  graph_io: { inputs: { ids: 'token_ids', mask: 'attention_mask' }, output: 'embeddings' },
  pooling: 'graph',
  normalized: true,
  prompts: {},
  include_prompt: true,
};

/** A decider and an embedder. */
export const simulatedFolders = [decisions, embeddings].map((manifest) => ({
  path: '/',
  manifest,
  frames: BERT_FRAMES,
  isWordPiece: true,
  digest: 'sha256:1',
}));

const runMs = (tokens: number): number => tokens * (0.08 + 0.00012 * tokens);
const countTokens = (text: string): number => Math.round(text.length / CHARACTERS_PER_TOKEN);

/** Worker time of a decision on the simulated machine, without noise. */
export function decisionMs({ state, questions }: Pick<DecideJob, 'state' | 'questions'>): number {
  const tokens = countTokens(state);
  const windows = Math.floor(tokens / WINDOW_TOKENS);
  const encodeMs = windows * runMs(WINDOW_TOKENS) + runMs(tokens % WINDOW_TOKENS);
  return 0.5 + encodeMs + questions.reduce((sum, question) => sum + questionMs(question, tokens), 0);
}

const answerMs = (stateTokens: number): number => 4 + 0.008 * stateTokens;

/** Beside short options. */
function questionMs(question: Question, stateTokens: number): number {
  const tokens = question.type === 'choice' ? countTokens(question.options.map(optionText).join('')) : 0;
  return answerMs(stateTokens) * (1 + tokens / 30);
}

const optionText = ({ name, description }: { name: string; description: string | null }) => name + (description ?? '');

/** One question of so many options, of so many tokens each. */
export function simulatedChoice(tokens: number, options: number, optionTokens: number): DecideJob {
  const asked = Array.from({ length: options }, (_, i) => ({
    name: `${i}`,
    description: 'word '.repeat(optionTokens),
  }));
  const question = { type: 'choice', instructions: 'word '.repeat(30), options: asked } as const;
  return { modelId: 'decider', state: 'word '.repeat(tokens), questions: [question] };
}

export function simulatedJob(tokens: number, questions = 1): DecideJob {
  const asked = Array.from({ length: questions }, () => {
    return { type: 'noul', instructions: 'word '.repeat(30), whenFalse: null, whenTrue: null } as const;
  });
  return { modelId: 'decider', state: 'word '.repeat(tokens), questions: asked };
}

function toEvenOdds(question: Question): number[] {
  const options = question.type === 'choice' ? question.options.length : 2;
  return Array.from({ length: options }, () => 1 / options);
}

class SimulatedPool implements InferencePool {
  readonly workers: number;
  readonly loaded: Promise<PoolReport>;
  /** Worker time that was used. */
  busyMs = 0;
  /** Kinds of what began, in order. */
  readonly begun: Task['kind'][] = [];
  private readonly clock: ManualClock;
  private readonly random: RandomSource;

  constructor(workers: number, clock: ManualClock, random: RandomSource) {
    this.workers = workers;
    this.clock = clock;
    this.random = random;
    const timedCases = [20, 60, 150, 300, 700].map((tokens) => ({
      characters: tokens * CHARACTERS_PER_TOKEN,
      tokens,
      questions: [{ tokens: 30, options: 2 }],
      wallMs: decisionMs(simulatedJob(tokens)),
    }));
    const model = {
      modelId: 'decider',
      precision: 'int8',
      loadMs: 1,
      device: 'cpu',
      optimizedGraphs: 'none',
      readsSharedMemory: false,
      timedCases,
    } as const;
    this.loaded = Promise.resolve({ device: 'cpu', models: [model], notes: [], warnings: [] });
  }

  run<T extends Task>(task: T, _worker: number): Promise<ReplyOf[T['kind']]> {
    const { durationMs, reply } = this.perform(task);
    const takenMs = durationMs * (0.85 + 0.3 * this.random.next());
    this.busyMs += takenMs;
    this.begun.push(task.kind);
    return new Promise((resolve) => this.clock.after(takenMs, () => resolve(reply as ReplyOf[T['kind']])));
  }

  async close(): Promise<void> {
    await this.loaded;
  }

  private perform(task: Task): { durationMs: number; reply: object } {
    const times = { tokenizeMs: 0, inferMs: 0, keptTokens: 0, isKept: false };
    switch (task.kind) {
      case 'decide': {
        const stateTokens = countTokens(task.state);
        const probabilities = task.questions.map(toEvenOdds);
        const inputTokens = stateTokens + 30 * task.questions.length;
        return { durationMs: decisionMs(task), reply: { ...times, probabilities, inputTokens, stateTokens } };
      }
      case 'encode': {
        const tokens = Math.round(countTokens(task.state) / task.shares);
        const windows = [{ tokens, key: `${task.share}` }];
        const inputTokens = tokens * task.shares + 30 * task.questions.length;
        return { durationMs: 0.5 + runMs(tokens), reply: { ...times, windows, inputTokens } };
      }
      case 'answer': {
        const tokens = task.document.windows.reduce((sum, window) => sum + window.tokens, 0);
        const durationMs = 0.5 + task.questions.reduce((sum, question) => sum + questionMs(question, tokens), 0);
        return { durationMs, reply: { ...times, probabilities: task.questions.map(toEvenOdds) } };
      }
      case 'answer-slice': {
        const tokens = task.document.windows.reduce((sum, window) => sum + window.tokens, 0);
        const durationMs = 0.5 + questionMs(task.question, tokens) / task.slices;
        return { durationMs, reply: { ...times, vectors: [new Float32Array(1)] } };
      }
      case 'answer-end':
        return { durationMs: 1, reply: { ...times, probabilities: [toEvenOdds(task.question)] } };
      case 'embed': {
        const tokens = task.inputs.map(({ input }) => (typeof input === 'string' ? countTokens(input) : input.length));
        const durationMs = tokens.reduce((sum, each) => sum + 0.3 + runMs(each), 0.5);
        const inputTokens = tokens.reduce((sum, each) => sum + each, 0);
        return { durationMs, reply: { ...times, embeddings: task.inputs.map(() => ''), inputTokens } };
      }
      default:
        return { durationMs: 1, reply: { inputTokens: 1 } };
    }
  }
}

export interface Simulation {
  readonly engine: Engine;
  readonly pool: SimulatedPool;
  readonly clock: ManualClock;
  /** Lets time pass up to a moment, step by step. */
  readonly runUntil: (untilMs: number) => Promise<void>;
}

/** The engine over any pool, with the simulated machine's models. */
export function engineOver({
  queueDeadlineMs = 8000,
  stateCacheBytes = 0,
  // For all documents that a test asks for: their keys and values are small here.
  sharedMemoryBytes = 160_000_000,
  ...parts
}: Pick<PooledEngineOptions, 'pool' | 'clock' | 'sharedMemoryBytes'> & {
  readonly queueDeadlineMs?: number;
  readonly stateCacheBytes?: number;
}): PooledEngine {
  return new PooledEngine({
    plan: new MemoryPlan({ models: [], cacheBytes: 0, budgetBytes: 0, workers: 1 }),
    ...parts,
    sharedMemoryBytes,
    folders: simulatedFolders,
    openCounter: async () => undefined,
    threadsPerWorker: 1,
    stateCacheBytes,
    queue: { maxJobs: 1024, maxCostMs: 60_000, deadlineMs: queueDeadlineMs },
    probe: { intervalMs: 0, timeoutMs: 30_000 },
    onEvent: () => undefined,
  });
}

/** What a job that comes now is told; undefined: it is let in. It leaves again at once. */
export function refusalOf(engine: Engine, job: DecideJob, keyId: string): AppError | undefined {
  const leaver = new AbortController();
  const ticket = engine.ticketFor(job, { keyId, signal: leaver.signal });
  try {
    ticket.enter();
    return undefined;
  } catch (error) {
    return error as AppError;
  } finally {
    leaver.abort();
  }
}

export async function simulate(
  random: RandomSource,
  { workers = 2, queueDeadlineMs = 8000, stateCacheBytes = 0 } = {},
): Promise<Simulation> {
  const clock = new ManualClock();
  const pool = new SimulatedPool(workers, clock, random);
  const engine = engineOver({ pool, clock, queueDeadlineMs, stateCacheBytes });
  await engine.ready;
  const runUntil = async (untilMs: number): Promise<void> => {
    do {
      const next = Math.min(untilMs, clock.nextTimerMs ?? untilMs);
      clock.advance(next - clock.nowMs());
      await settle();
    } while (clock.nowMs() < untilMs);
  };
  return { engine, pool, clock, runUntil };
}
