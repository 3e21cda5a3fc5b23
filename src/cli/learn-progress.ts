// How far a learning is: a bar that is drawn again on a terminal, a line now and then elsewhere.

import type { LearnNews } from '../learning/learn-order.ts';
import { describeCount, describeSeconds, RowRate } from './batch-progress.ts';
import type { Program } from './program.ts';

const LINE_MS = 10_000;
const BAR_CELLS = 24;
/** To the begin of the line, and nothing after it. */
const CLEAR_LINE = '\r\u001b[K';
const DRAW_MS = 100;

const STEPS = {
  starting: 'Loading the models',
  reading: 'Reading documents',
  fitting: 'Fitting heads',
  writing: 'Writing',
} as const;

export class LearnProgress {
  readonly #program: Program;
  readonly #isJson: boolean;
  #toldMs = Number.NEGATIVE_INFINITY;
  #step = '';
  #rate = new RowRate(0);
  #isDrawn = false;

  constructor(program: Program, { isJson }: { readonly isJson: boolean }) {
    this.#program = program;
    this.#isJson = isJson;
  }

  tell(news: LearnNews): void {
    const { progressColumns: columns } = this.#program;
    if (news.kind === 'warning') {
      this.end();
      this.#program.writeError(`warning: ${news.text}\n`);
      return;
    }
    const { step, done, total } = news;
    const nowMs = performance.now();
    const isNew = step !== this.#step;
    if (isNew) this.#rate = new RowRate(nowMs);
    if (!isNew && done < total && nowMs - this.#toldMs < (columns === undefined ? LINE_MS : DRAW_MS)) return;
    // Off a terminal, a step is told when it begins and while it goes on.
    if (columns === undefined && !isNew && done >= total) return;
    [this.#step, this.#toldMs] = [step, nowMs];
    const rate = this.#rate.update(nowMs, done);
    const text = describeStep(news, isNew ? Number.NaN : (total - done) / rate);
    if (columns !== undefined) this.#draw(`${drawBar(done, total)} ${text}`, columns);
    else if (!this.#isJson) this.#program.writeError(`${text}\n`);
  }

  end(): void {
    if (this.#isDrawn) this.#program.writeError(CLEAR_LINE);
    this.#isDrawn = false;
  }

  #draw(text: string, columns: number): void {
    this.#isDrawn = true;
    this.#program.writeError(CLEAR_LINE + text.slice(0, Math.max(0, columns - 1)));
  }
}

/** `Reading documents: 120 of 400, 28 s left` @param secondsLeft NaN: nobody knows */
function describeStep({ step, done, total }: Extract<LearnNews, { kind: 'step' }>, secondsLeft: number): string {
  const left = secondsLeft > 0 ? `, ${describeSeconds(secondsLeft)} left` : '';
  if (step === 'reading') return `${STEPS[step]}: ${describeCount(done)} of ${describeCount(total)}${left}`;
  if (step === 'fitting') return `${STEPS[step]}: ${Math.floor((100 * done) / Math.max(1, total))} %${left}`;
  return `${STEPS[step]} …`;
}

function drawBar(done: number, total: number): string {
  const filled = Math.round((Math.min(total, done) / Math.max(1, total)) * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)}`;
}
