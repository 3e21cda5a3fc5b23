// The ticket of one job of rows: in parts that all free workers share and that let others through.

import { sum } from '../../domain/sum.ts';
import { CountPart } from '../cost/token-counting.ts';
import type { Caller, JobResult, Ticket } from '../engine.ts';
import type { BatchShare } from '../scheduling/batching.ts';
import { Part, type QueueClass, QueuedTicket } from '../scheduling/queued-ticket.ts';
import type { RowJob, RowTask } from './row-job.ts';
import type { RowGroup, SizedRow } from './row-parts.ts';
import type { ScoringModel } from './scoring-model.ts';

export class ScoringTicket extends QueuedTicket<JobResult> implements Ticket<JobResult> {
  readonly queueClass: QueueClass;
  readonly #model: ScoringModel;
  readonly #job: RowJob;
  #parts: readonly RowPart[] = [];

  constructor(model: ScoringModel, job: RowJob, caller: Caller) {
    super(caller);
    this.queueClass = job.queueClass;
    this.#model = model;
    this.#job = job;
  }

  async countTokens(): Promise<number> {
    const parts = this.#job.countTasks().map(({ task, characters }) => new CountPart(task, characters));
    return await this.#model.counting.count(parts, this.caller, this.queueClass);
  }

  enter(): void {
    if (this.isIn) return;
    const model = this.#model;
    const job = this.#job;
    this.#parts = model
      .split(model.sizeRows(job.letters))
      .map((group) => new RowPart(group, job, model.shareOf(group)));
    this.plan({ parts: this.#parts, durationMs: model.durationMs(this.#parts) });
    model.scheduler.submit(this);
  }

  protected collect(): JobResult {
    const finished = this.#parts.map(({ sized, reply, wallMs }) => {
      this.#model.learn(sized, reply.inputTokens, wallMs);
      return { rows: sized.map(({ row }) => row), reply };
    });
    const total = (key: 'inputTokens' | 'tokenizeMs' | 'inferMs'): number =>
      sum(finished.map(({ reply }) => reply[key]));
    return this.#job.toResult(finished, {
      inputTokens: total('inputTokens'),
      timings: { queueMs: this.queueMs ?? 0, tokenizeMs: total('tokenizeMs'), inferMs: total('inferMs') },
      source: { answer: 'run', keptTokens: 0 },
      ...(this.#parts.some(({ hadCompany }) => hadCompany) && { isBatched: true }),
    });
  }
}

/** Rows for one worker. */
class RowPart extends Part<RowTask> {
  readonly sized: readonly SizedRow[];
  readonly #job: RowJob;

  constructor({ rows, costMs }: RowGroup, job: RowJob, batch: BatchShare | undefined) {
    super(costMs, batch);
    this.sized = rows;
    this.#job = job;
  }

  begin(): RowTask {
    return this.#job.taskOf(this.sized.map(({ row }) => row));
  }
}
