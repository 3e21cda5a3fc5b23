// The ticket of a load: one worker brings a model into its memory, while the others go on. Which worker is left to the
// queue: whoever lacks the model and is free first.

import type { LoadModelTask, LoadReply } from '../../runtime/messages.ts';
import { Part, QueuedTicket } from '../scheduling/queued-ticket.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';

/** Nobody's: a load is for all who wait for it, and none of them can leave it. */
const NOBODY = { keyId: '', signal: new AbortController().signal };

export interface LoadWork {
  readonly modelId: string;
  /** Workers without it. At least one. */
  readonly lacking: ReadonlySet<number>;
  readonly costMs: number;
}

export interface WorkerLoad extends LoadReply {
  readonly worker: number;
}

export class LoadTicket extends QueuedTicket<WorkerLoad> {
  readonly queueClass = 'loading';
  readonly #scheduler: Scheduler;
  readonly #part: LoadPart;

  constructor(scheduler: Scheduler, work: LoadWork) {
    super(NOBODY);
    this.#scheduler = scheduler;
    this.#part = new LoadPart(work);
  }

  enter(): void {
    if (this.isIn) return;
    this.plan({ parts: [this.#part] });
    this.#scheduler.submit(this);
  }

  protected collect(): WorkerLoad {
    const { reply, worker } = this.#part;
    return { ...reply, worker };
  }
}

class LoadPart extends Part<LoadModelTask> {
  override readonly mayWait = true;
  readonly #work: LoadWork;

  constructor(work: LoadWork) {
    super(work.costMs);
    this.#work = work;
  }

  override savedMs(worker: number): number {
    return this.#work.lacking.has(worker) ? Infinity : 0;
  }

  begin(): LoadModelTask {
    return { kind: 'load', modelId: this.#work.modelId };
  }
}
