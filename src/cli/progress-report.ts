// What a batch says while it runs and at its end, on standard error: a line that is drawn again on a terminal, a line now and
// then elsewhere.

import type { BatchNews } from '../client/batch/batch-run.ts';
import { formatUsd } from '../domain/money.ts';
import {
  type BatchCounts,
  describeCount,
  describeProgress,
  describeSeconds,
  RowRate,
  renderProgressBar,
  shortUsd,
} from './batch-progress.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Program } from './program.ts';

const DRAW_MS = 200;
const LINE_MS = 10_000;
const SECOND_MS = 1000;
/** To the begin of the line, and nothing after it. */
const CLEAR_LINE = '\r\u001b[K';

/** How a run ended. `failed`: with why. */
export type BatchEnding =
  | { readonly type: 'complete' }
  | { readonly type: 'stopped' }
  | { readonly type: 'failed'; readonly reason: string };

export class ProgressReport {
  readonly #program: Program;
  #startedMs = performance.now();
  #rate = new RowRate(this.#startedMs);
  #counts: BatchCounts;
  #timer: NodeJS.Timeout | undefined;

  constructor(program: Program, found: Pick<BatchCounts, 'before' | 'errors' | 'total'>) {
    this.#program = program;
    this.#counts = { ...found, rows: 0, costPicoUsd: 0n };
  }

  /** From now on rows are asked. */
  start(): void {
    this.#startedMs = performance.now();
    this.#rate = new RowRate(this.#startedMs);
    const isDrawn = this.#program.progressColumns !== undefined;
    this.#timer = setInterval(() => this.#show(), isDrawn ? DRAW_MS : LINE_MS);
  }

  add({ rows, errors, costPicoUsd }: BatchNews): void {
    const counts = this.#counts;
    this.#counts = {
      ...counts,
      rows: counts.rows + rows,
      errors: counts.errors + errors,
      costPicoUsd: counts.costPicoUsd + costPicoUsd,
    };
  }

  note(text: string): void {
    this.#program.writeError(`${this.#clear()}${text}\n`);
  }

  /** @param output where the rows are */
  end(output: string, ending: BatchEnding): ExitCode {
    clearInterval(this.#timer);
    const { before, rows, errors, total } = this.#counts;
    const done = before + rows;
    if (ending.type === 'complete') {
      const answered = `${describeCount(done - errors)} answered${errors > 0 ? `, ${describeCount(errors)} with errors` : ''}`;
      this.note(`${describeCount(done)} rows in ${output}: ${answered}.${this.#describeRun()}`);
      return errors > 0 ? EXIT.someRowsFailed : EXIT.done;
    }
    const reached =
      total === undefined ? `${describeCount(done)} rows` : `${describeCount(done)} of ${describeCount(total)} rows`;
    const why = ending.type === 'failed' ? ending.reason : 'Stopped.';
    this.note(
      `umpire: ${why}\n${reached} are in ${output}. The same command goes on with the rest.${this.#describeRun()}`,
    );
    return ending.type === 'failed' ? EXIT.failed : EXIT.stopped;
  }

  /** For programs. */
  toJson(ending: BatchEnding): object {
    const { before, rows, errors, costPicoUsd } = this.#counts;
    return {
      complete: ending.type === 'complete',
      rows: before + rows,
      errors,
      asked: rows,
      seconds: this.#seconds(),
      cost_usd: formatUsd(costPicoUsd),
      ...(ending.type === 'failed' ? { reason: ending.reason } : {}),
    };
  }

  #show(): void {
    const { progressColumns } = this.#program;
    const rate = this.#rate.update(performance.now(), this.#counts.rows);
    if (progressColumns === undefined) this.note(describeProgress(this.#counts, rate));
    else this.#program.writeError(`${CLEAR_LINE}${renderProgressBar(this.#counts, rate, progressColumns)}`);
  }

  #describeRun(): string {
    const { rows, costPicoUsd } = this.#counts;
    if (rows === 0) return '';
    const seconds = this.#seconds();
    const cost = costPicoUsd > 0n ? `, ${shortUsd(costPicoUsd)}` : '';
    return ` This run: ${describeCount(rows)} rows in ${describeSeconds(seconds)}, ${(rows / seconds).toFixed(1)} a second${cost}.`;
  }

  #seconds(): number {
    return Math.round(performance.now() - this.#startedMs) / SECOND_MS;
  }

  #clear(): string {
    return this.#program.progressColumns === undefined ? '' : CLEAR_LINE;
  }
}
