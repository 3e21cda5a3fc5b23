// What a job is to the rows of a model that scores them: how long each row is, which tasks run them, and what comes of their
// replies. Each kind of job has a file of its own that makes one.

import type { CountTask, DecideTask, ReplyOf, ScorePairsTask } from '../../runtime/messages.ts';
import type { JobResult } from '../engine.ts';
import type { QueueClass } from '../scheduling/queued-ticket.ts';

/** Tasks that run rows. */
export type RowTask = ScorePairsTask | DecideTask;

/** Rows that one worker has run. */
export interface FinishedRows<T extends RowTask> {
  /** Their places in the job. */
  readonly rows: readonly number[];
  readonly reply: ReplyOf[T['kind']];
}

/** What all results have in common. */
export type CommonResult = Pick<JobResult, 'inputTokens' | 'timings' | 'source' | 'isBatched'>;

export interface RowJob<T extends RowTask = RowTask> {
  readonly queueClass: QueueClass;
  /** `[rows]`: what the model reads of the texts in each, as `countLetters` gives it. At least one row. */
  readonly letters: readonly number[];
  /** Runs some of the rows, in any order. */
  taskOf(rows: readonly number[]): T;
  /** Tasks that together count what the rows bill, with the characters that each reads. */
  countTasks(): readonly CountedTask[];
  /** @param finished all rows, each once */
  toResult(finished: readonly FinishedRows<T>[], common: CommonResult): JobResult;
}

export interface CountedTask {
  readonly task: CountTask;
  /** UTF-16 code units. */
  readonly characters: number;
}

/** `[rows]`, from what each part found of its rows. @param found `[parts][rows of the part]` */
export function inRowOrder<Found>(
  finished: readonly { readonly rows: readonly number[] }[],
  found: readonly (readonly Found[])[],
): Found[] {
  const ordered: Found[] = [];
  for (const [part, { rows }] of finished.entries()) {
    for (const [at, row] of rows.entries()) {
      const value = found[part]?.[at];
      if (value === undefined) throw new Error('a worker left out a row');
      ordered[row] = value;
    }
  }
  return ordered;
}
