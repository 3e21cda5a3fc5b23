// Bare loops: worker threads that run one decision's graphs over and over, with nothing around them. Owns the threads.

import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { loadConfig } from '../../src/config/load.ts';
import { sum } from '../load/statistics.ts';
import { DECISION_MODEL, type DecisionSize, makeDecision, toQuestions } from '../load/workload.ts';
import { ROOT } from '../machine/machine.ts';
import type { BareLoopReply, BareLoopRequest, BareLoopSetup } from './bare-loop-worker.ts';
import type { Member } from './fleet.ts';
import { DEVICE } from './umpire.ts';

const WORKER = new URL('./bare-loop-worker.ts', import.meta.url);

/** How the measured server runs its models: what its configuration says, and what it says of itself. */
export async function readEngineSettings({ client }: Pick<Member, 'client'>) {
  const { threadsPerWorker } = loadConfig({ flags: {} }).config.engine;
  const { text } = await client.get('/metrics');
  const workers = Number(/^umpire_engine_workers (\d+)$/m.exec(text)?.[1]);
  if (!(workers >= 1)) throw new Error('/metrics does not say how many workers there are.');
  return { workers, threadsPerWorker, device: DEVICE };
}

/** As many loops as the server has workers, with its threads and its optimised graphs; they end with `use`. */
export async function withBareLoops<T>(
  own: Member,
  size: DecisionSize,
  use: (loops: BareLoops) => Promise<T>,
): Promise<T> {
  const { workers, threadsPerWorker } = await readEngineSettings(own);
  const decision = makeDecision(size);
  const setup: BareLoopSetup = {
    modelFolder: join(ROOT, 'models', DECISION_MODEL),
    cacheFolder: join(own.dataFolder, 'cache'),
    threads: threadsPerWorker,
    state: decision.state,
    questions: toQuestions(decision),
  };
  const threads: Worker[] = [];
  try {
    for (let index = 0; index < workers; index++) {
      const thread = new Worker(WORKER, { workerData: setup });
      threads.push(thread);
      await once(thread, 'message');
    }
    return await use(new BareLoops(threads));
  } finally {
    await Promise.all(threads.map(stop));
  }
}

export class BareLoops {
  readonly #threads: readonly Worker[];

  constructor(threads: readonly Worker[]) {
    this.#threads = threads;
  }

  get workers(): number {
    return this.#threads.length;
  }

  /** One loop, the others idle. @returns `[runs]`, milliseconds */
  async runAlone(runs: number): Promise<readonly number[]> {
    const [reply] = await ask(this.#threads.slice(0, 1), { runs, durationMs: Number.POSITIVE_INFINITY });
    return reply?.latenciesMs ?? [];
  }

  /** All loops at once. @returns runs per second of all together */
  async runAll(durationMs: number): Promise<number> {
    const replies = await ask(this.#threads, { runs: Number.POSITIVE_INFINITY, durationMs });
    return sum(replies.map(({ latenciesMs, elapsedMs }) => (latenciesMs.length / elapsedMs) * 1000));
  }
}

async function ask(threads: readonly Worker[], request: BareLoopRequest): Promise<BareLoopReply[]> {
  const answered = threads.map((thread) => once(thread, 'message'));
  for (const thread of threads) thread.postMessage(request);
  return (await Promise.all(answered)).map(([reply]) => reply);
}

/** Asked, not ended by force: that would abort the process if a graph were running. */
async function stop(thread: Worker): Promise<void> {
  const ended = once(thread, 'exit');
  thread.postMessage(null satisfies BareLoopRequest);
  await ended;
}
