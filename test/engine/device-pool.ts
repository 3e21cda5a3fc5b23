// Workers of a device that only take time: its runs follow one another, each for a + b · tokens, packed as real workers pack
// them. Replies are made up. And an engine over them.

import { MemoryPlan } from '../../src/engine/loading/memory-plan.ts';
import { PooledEngine } from '../../src/engine/pooled-engine.ts';
import {
  type DecisionRow,
  packDecisionRows,
  windowsOf,
} from '../../src/runtime/families/split-encoder/decision-rows.ts';
import type { DecideTask, ReplyOf, Task } from '../../src/runtime/messages.ts';
import type { InferencePool, PoolReport } from '../../src/runtime/worker-pool.ts';
import type { ManualClock } from './manual-clock.ts';
import { simulatedFolders } from './simulated-engine.ts';

/** What a run takes, and what each of its tokens adds. */
export const FIXED_MS = 4;
export const TOKEN_MS = 0.002;
const CHARACTERS_PER_TOKEN = 5;
const WINDOW_TOKENS = 256;
/** Of a question's row, specials and options included. */
const ROW_TOKENS = 34;
const WORKERS = 3;

type Packing = Parameters<typeof packDecisionRows>[1];

class DevicePool implements InferencePool {
  readonly workers = WORKERS;
  readonly loaded: Promise<PoolReport>;
  readonly tasks: Task[] = [];
  /** Of the device. */
  runs = 0;
  #freeMs = 0;
  readonly #clock: ManualClock;
  readonly #packing: Packing;

  constructor(clock: ManualClock, packing: Packing) {
    this.#clock = clock;
    this.#packing = packing;
    const model = {
      modelId: 'decider',
      precision: 'fp16',
      device: 'cuda',
      loadMs: 1,
      optimizedGraphs: 'none',
      readsSharedMemory: false,
      timedCases: [20, 60, 150].map((tokens) => {
        const questions = [{ tokens: ROW_TOKENS - 4, options: 2 }];
        const wallMs = FIXED_MS + TOKEN_MS * (tokens + ROW_TOKENS);
        return { characters: tokens * CHARACTERS_PER_TOKEN, tokens, questions, wallMs };
      }),
      batches: [54, 500, 4000].map((tokens) => ({ tokens, wallMs: FIXED_MS + TOKEN_MS * tokens })),
    } as const;
    this.loaded = Promise.resolve({ device: 'cuda', models: [model], notes: [], warnings: [] });
  }

  run<T extends Task>(task: T): Promise<ReplyOf[T['kind']]> {
    const nowMs = this.#clock.nowMs();
    this.tasks.push(task);
    const decisions = decisionsOf(task);
    const runs = packDecisionRows(decisions.flatMap(rowsOf), this.#packing);
    this.runs += runs.length;
    const tookMs = runs.reduce((sum, rows) => sum + FIXED_MS + TOKEN_MS * paddedTokens(rows), 0);
    this.#freeMs = Math.max(nowMs, this.#freeMs) + tookMs;
    const replies = decisions.map(replyTo);
    const reply = task.kind === 'batch' ? { replies: replies.map((value) => ({ value })) } : replies[0];
    return new Promise((resolve) =>
      this.#clock.after(this.#freeMs - nowMs, () => resolve(reply as ReplyOf[T['kind']])),
    );
  }

  async close(): Promise<void> {
    await this.loaded;
  }
}

interface SharedRuns {
  /** Of a run. */
  readonly tokens: number;
  readonly exact: boolean;
}

/** An engine whose decisions run on such a device, two runs at a time. */
export async function openOnDevice(clock: ManualClock, { tokens, exact }: SharedRuns) {
  const pool = new DevicePool(clock, { tokens, isExact: exact });
  const engine = new PooledEngine({
    pool,
    clock,
    plan: new MemoryPlan({ models: [], cacheBytes: 0, budgetBytes: 0, workers: 1 }),
    folders: simulatedFolders,
    openCounter: async () => undefined,
    threadsPerWorker: 1,
    stateCacheBytes: 0,
    queue: { maxJobs: 4096, maxCostMs: 60_000, deadlineMs: 8000 },
    probe: { intervalMs: 0, timeoutMs: 30_000 },
    batch: { tokens, waitMs: 2, inFlight: 2, exact, onCpu: false },
    onEvent: () => undefined,
  });
  await engine.ready;
  return { pool, engine };
}

/** Of a batch, or the task itself. */
export function decisionsOf(task: Task): DecideTask[] {
  const tasks: readonly Task[] = task.kind === 'batch' ? task.tasks : [task];
  return tasks.filter((each) => each.kind === 'decide');
}

function stateTokens({ state }: DecideTask): number {
  return Math.round(state.length / CHARACTERS_PER_TOKEN);
}

function rowsOf(task: DecideTask): DecisionRow[] {
  const count = Math.ceil(stateTokens(task) / WINDOW_TOKENS);
  const windows = Array.from({ length: count }, (_, index) => {
    const tokens = Math.min(WINDOW_TOKENS, stateTokens(task) - index * WINDOW_TOKENS);
    return { tokens, ids: new Int32Array(), key: `${task.state.length} ${index}`, segment: 0, index };
  });
  const tokenIds = Array.from({ length: ROW_TOKENS }, () => 0);
  const chunk = { tokenIds, positions: tokenIds, branch: tokenIds, options: [], lengths: [] };
  return task.questions.map(() => ({ chunk, windows, stateWindows: count }));
}

function paddedTokens(rows: readonly DecisionRow[]): number {
  const windows = windowsOf(rows);
  return windows.length * Math.max(...windows.map(({ tokens }) => tokens)) + rows.length * ROW_TOKENS;
}

function replyTo(task: DecideTask): object {
  const { questions, countedQuestions = questions } = task;
  const times = { tokenizeMs: 0, inferMs: 0, keptTokens: 0, isKept: false };
  const inputTokens = stateTokens(task) + (ROW_TOKENS - 4) * countedQuestions.length;
  return { ...times, probabilities: questions.map(() => [0.5, 0.5]), inputTokens, stateTokens: stateTokens(task) };
}
