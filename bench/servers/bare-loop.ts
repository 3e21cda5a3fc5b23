// Bare loops: worker threads that run one decision's graphs over and over, with nothing around them. Owns the threads.

import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { sum } from '../load/statistics.ts';
import { DECISION_MODEL, type DecisionBody, toQuestions } from '../load/workload.ts';
import type { BareLoopReply, BareLoopRequest, BareLoopSetup } from './bare-loop-worker.ts';

const WORKER = new URL('./bare-loop-worker.ts', import.meta.url);

export interface BareLoopOptions {
  readonly workers: number;
  readonly threadsPerWorker: number;
  /** The decision whose graph inputs are prepared once and then run again and again. */
  readonly decision: DecisionBody;
  /** Where the server keeps optimised graphs: both map the same files. */
  readonly cacheFolder: string;
}

export class BareLoops {
  readonly #threads: readonly Worker[];

  private constructor(threads: readonly Worker[]) {
    this.#threads = threads;
  }

  static async start({ workers, threadsPerWorker, decision, cacheFolder }: BareLoopOptions): Promise<BareLoops> {
    const setup: BareLoopSetup = {
      modelFolder: join(resolve(import.meta.dirname, '..', '..'), 'models', DECISION_MODEL),
      cacheFolder,
      threads: threadsPerWorker,
      state: decision.state,
      questions: toQuestions(decision),
    };
    const threads: Worker[] = [];
    for (let index = 0; index < workers; index++) {
      const thread = new Worker(WORKER, { workerData: setup });
      await once(thread, 'message');
      threads.push(thread);
    }
    return new BareLoops(threads);
  }

  get workers(): number {
    return this.#threads.length;
  }

  /** One loop, the others idle. @returns `[runs]`, milliseconds */
  async runAlone(runs: number): Promise<readonly number[]> {
    const [thread] = this.#threads;
    if (thread === undefined) throw new Error('No bare loop was started.');
    return (await ask(thread, { runs })).latenciesMs;
  }

  /** All loops at once. @returns runs per second of all together */
  async runAll(durationMs: number): Promise<number> {
    const replies = await Promise.all(this.#threads.map((thread) => ask(thread, { durationMs })));
    return sum(replies.map(({ latenciesMs, elapsedMs }) => (latenciesMs.length / elapsedMs) * 1000));
  }

  /** Asked, not ended by force: that would abort the process if a graph were running. */
  async stop(): Promise<void> {
    const ended = this.#threads.map((thread) => once(thread, 'exit'));
    const request: BareLoopRequest = { stop: true };
    for (const thread of this.#threads) thread.postMessage(request);
    await Promise.all(ended);
  }
}

async function ask(thread: Worker, request: BareLoopRequest): Promise<BareLoopReply> {
  const answered = once(thread, 'message');
  thread.postMessage(request);
  const [reply] = await answered;
  return reply;
}
