// Where a person sits: one view at a time on the terminal, which gets the keys, until the sitting ends.

import type { Terminal, TerminalListener } from '../terminal.ts';
import type { ScreenSize } from './screen.ts';

/** `over`: nothing is left to do; `left`: the person has had enough; `stopped`: by a signal, or the terminal is gone. */
export type SittingEnd = 'over' | 'left' | 'stopped';

export interface View {
  draw(size: ScreenSize): readonly string[];
  /** @returns how the sitting ends by it; undefined: it goes on */
  press(key: string): SittingEnd | undefined;
}

export class Desk implements TerminalListener {
  /** Rejects with what a view throws. */
  readonly ended: Promise<SittingEnd>;
  readonly #terminal: Terminal;
  readonly #end: (how: SittingEnd) => void;
  readonly #fail: (error: unknown) => void;
  #view: View;
  #isOver = false;

  constructor(terminal: Terminal, view: View) {
    const { promise, resolve, reject } = Promise.withResolvers<SittingEnd>();
    this.ended = promise;
    // It may fail before anybody waits for it.
    promise.catch(() => undefined);
    this.#terminal = terminal;
    this.#view = view;
    this.#end = resolve;
    this.#fail = reject;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  show(view: View): void {
    this.#view = view;
    this.changed();
  }

  pressed(key: string): void {
    if (this.#isOver) return;
    try {
      const end = key === 'ctrl+c' ? 'stopped' : this.#view.press(key);
      if (end === undefined) this.changed();
      else this.stop(end);
    } catch (error) {
      this.#isOver = true;
      this.#fail(error);
    }
  }

  changed(): void {
    if (this.#isOver) return;
    const { columns, rows } = this.#terminal;
    this.#terminal.show(this.#view.draw({ columns, rows }));
  }

  gone(): void {
    this.stop('stopped');
  }

  stop(how: SittingEnd): void {
    this.#isOver = true;
    this.#end(how);
  }
}
