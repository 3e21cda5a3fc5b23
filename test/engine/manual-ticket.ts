// A ticket of parts that a test makes up, for the queue and the scheduler.

import type { Caller } from '../../src/engine/engine.ts';
import type { BatchShare } from '../../src/engine/scheduling/batching.ts';
import { Part, type PlannedWork, type QueueClass, QueuedTicket } from '../../src/engine/scheduling/queued-ticket.ts';
import type { Scheduler } from '../../src/engine/scheduling/scheduler.ts';
import type { Task } from '../../src/runtime/messages.ts';

export interface ManualTicketOptions extends Partial<Caller> {
  readonly queueClass?: QueueClass;
  readonly submittedMs?: number;
  readonly latestStartMs?: number | undefined;
  /** Of the parts that may run at once, and of those that come when they are done. */
  readonly costs: readonly number[];
  readonly laterCosts?: readonly number[];
  readonly scheduler?: Scheduler;
  /** Of each part; undefined: they run by themselves. */
  readonly batch?: BatchShare;
}

/** Its result: its parts, all of them. */
export class ManualTicket extends QueuedTicket<readonly Part[]> {
  readonly name: string;
  readonly queueClass: QueueClass;
  private readonly scheduler: Scheduler | undefined;
  private laterCosts: readonly number[];
  private readonly all: Part[] = [];
  private readonly batch: BatchShare | undefined;

  constructor(name: string, { costs, laterCosts = [], queueClass = 'decision', ...options }: ManualTicketOptions) {
    const { keyId = 'key', signal = new AbortController().signal, deadlineMs } = options;
    super({ keyId, signal, deadlineMs });
    this.name = name;
    this.queueClass = queueClass;
    this.scheduler = options.scheduler;
    this.laterCosts = laterCosts;
    this.batch = options.batch;
    this.plan({ parts: this.partsOf(costs), laterMs: laterCosts.reduce((a, b) => a + b, 0) });
    this.submittedMs = options.submittedMs ?? 0;
    this.latestStartMs = options.latestStartMs;
  }

  enter(): void {
    if (!this.isIn) this.scheduler?.submit(this);
  }

  protected override next(): PlannedWork {
    const parts = this.partsOf(this.laterCosts);
    this.laterCosts = [];
    return { parts };
  }

  protected collect(): readonly Part[] {
    return this.all;
  }

  private partsOf(costs: readonly number[]): Part[] {
    const task: Task = { kind: 'decide', modelId: this.name, state: '', questions: [] };
    const parts = costs.map((costMs) => new ManualPart(costMs, task, this.batch));
    this.all.push(...parts);
    return parts;
  }
}

class ManualPart extends Part {
  private readonly task: Task;

  constructor(costMs: number, task: Task, batch: BatchShare | undefined) {
    super(costMs, batch);
    this.task = task;
  }

  begin(): Task {
    return this.task;
  }
}
