// What is seen while the model reads.

import type { SittingEnd, View } from './desk.ts';
import type { ScreenSize } from './screen.ts';
import { wrapCells } from './text-width.ts';

export class ReadingView implements View {
  #done = 0;
  #total = 0;
  #isEnough = false;

  /** Whether the person begins with what was read so far. */
  get isEnough(): boolean {
    return this.#isEnough;
  }

  update(done: number, total: number): void {
    this.#done = done;
    this.#total = total;
  }

  draw({ columns, rows }: ScreenSize): readonly string[] {
    const begin = this.#isEnough ? 'One moment …' : 'Enter begins with these.';
    const text = `The model reads the documents: ${this.#done} of ${this.#total}.\n${begin} q leaves; what was read is kept.`;
    return columns < 3 ? [] : wrapCells(text, columns - 1).slice(0, rows);
  }

  press(key: string): SittingEnd | undefined {
    if (key === 'enter' && this.#done > 0) this.#isEnough = true;
    return key === 'q' ? 'left' : undefined;
  }
}
