// What a pull says while it runs: the plan at once, then a bar that is drawn again on a terminal and a line now and then
// elsewhere.

import type { TakeProgress } from '../hub/model-files.ts';
import { describeSeconds } from './batch-progress.ts';
import type { PullNews } from './model-sources.ts';
import { renderPlan, tellSize } from './model-text.ts';
import type { Program } from './program.ts';

const LINE_MS = 10_000;
const BAR_CELLS = 24;
/** To the begin of the line, and nothing after it. */
const CLEAR_LINE = '\r\u001b[K';

export class PullReport {
  readonly #program: Program;
  /** Standard output is a program's then, and standard error says what went wrong and nothing else. */
  readonly #isJson: boolean;
  #lineMs = performance.now();
  #isDrawn = false;

  constructor(program: Program, { isJson }: { readonly isJson: boolean }) {
    this.#program = program;
    this.#isJson = isJson;
  }

  tell(news: PullNews): void {
    switch (news.kind) {
      case 'plan':
        if (!this.#isJson) this.#program.writeOut(`${renderPlan(news.plan)}\n`);
        break;
      case 'taking':
        this.#show(news.progress);
        break;
      case 'step':
        this.#step(news.text);
        break;
      case 'warning':
        this.#clear();
        this.#program.writeError(`warning: ${news.text}\n`);
    }
  }

  end(): void {
    this.#clear();
  }

  #step(text: string): void {
    const { progressColumns } = this.#program;
    if (progressColumns !== undefined) this.#draw(`${text} …`, progressColumns);
    else if (!this.#isJson) this.#program.writeError(`${text} …\n`);
  }

  #show(progress: TakeProgress): void {
    const { progressColumns } = this.#program;
    const text = describeTaking(progress);
    if (progressColumns !== undefined) {
      this.#draw(`${renderBar(progress)} ${text}`, progressColumns);
      return;
    }
    const isWaiting = progress.waitSeconds !== undefined;
    if (this.#isJson || (!isWaiting && performance.now() - this.#lineMs < LINE_MS)) return;
    this.#lineMs = performance.now();
    this.#program.writeError(`${text}\n`);
  }

  #draw(text: string, columns: number): void {
    this.#isDrawn = true;
    this.#program.writeError(CLEAR_LINE + text.slice(0, Math.max(0, columns - 1)));
  }

  #clear(): void {
    if (this.#isDrawn) this.#program.writeError(CLEAR_LINE);
    this.#isDrawn = false;
  }
}

/** `1.2 GB of 1.7 GB (70 %), 87.0 MB/s, 6 s left, onnx/model.onnx` */
function describeTaking(progress: TakeProgress): string {
  const { doneBytes, totalBytes, bytesPerSecond, secondsLeft, waitSeconds, path } = progress;
  const percent = totalBytes === 0 ? 100 : Math.floor((doneBytes / totalBytes) * 100);
  return [
    `${tellSize(doneBytes)} of ${tellSize(totalBytes)} (${percent} %)`,
    ...(waitSeconds === undefined ? [] : [`asked again in ${describeSeconds(waitSeconds)}`]),
    ...(bytesPerSecond ? [`${tellSize(bytesPerSecond)}/s`] : []),
    ...(secondsLeft ? [`${describeSeconds(secondsLeft)} left`] : []),
    path,
  ].join(', ');
}

function renderBar({ doneBytes, totalBytes }: TakeProgress): string {
  const filled = Math.round((Math.min(totalBytes, doneBytes) / Math.max(1, totalBytes)) * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)}`;
}
