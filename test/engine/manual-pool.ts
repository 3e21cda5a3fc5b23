// A pool whose tasks end when a test says so.

import type { ReplyOf, Task } from '../../src/runtime/messages.ts';
import type { InferencePool, PoolReport } from '../../src/runtime/worker-pool.ts';

interface Started {
  readonly task: Task;
  readonly worker: number;
  readonly isWide: boolean;
  readonly resolve: (reply: ReplyOf[Task['kind']]) => void;
  readonly reject: (error: Error) => void;
}

export class ManualPool implements InferencePool {
  readonly workers: number;
  readonly wideWorker: number | undefined;
  readonly loaded: Promise<PoolReport>;
  readonly finishLoading: (report: PoolReport) => void;
  readonly failLoading: (error: Error) => void;
  closed = false;
  /** Tasks that run now, oldest first. */
  readonly started: Started[] = [];

  constructor(workers: number, wideWorker?: number) {
    this.workers = workers;
    this.wideWorker = wideWorker;
    const { promise, resolve, reject } = Promise.withResolvers<PoolReport>();
    [this.loaded, this.finishLoading, this.failLoading] = [promise, resolve, reject];
  }

  run<T extends Task>(task: T, worker: number, isWide = false): Promise<ReplyOf[T['kind']]> {
    const { promise, resolve, reject } = Promise.withResolvers<ReplyOf[Task['kind']]>();
    this.started.push({ task, worker, isWide, resolve, reject });
    return promise as Promise<ReplyOf[T['kind']]>;
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  /** Ends the oldest running task. */
  async finish(reply: ReplyOf[Task['kind']]): Promise<void> {
    this.started.shift()?.resolve(reply);
    await settle();
  }

  /** Ends what one worker runs. */
  async finishOn(worker: number, reply: ReplyOf[Task['kind']]): Promise<void> {
    const at = this.started.findIndex((started) => started.worker === worker);
    this.started.splice(at, 1)[0]?.resolve(reply);
    await settle();
  }

  async fail(error: Error): Promise<void> {
    this.started.shift()?.reject(error);
    await settle();
  }
}

/** Lets everything that waits on a settled promise go on. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
