// The terminal of this process, while a command asks somebody: keys one by one instead of lines, a screen of its own. What
// was before is there again at the end, however it ends but by a kill that nobody hears.

import { emitKeypressEvents, type Interface, type Key } from 'node:readline';
import type { Terminal, TerminalListener } from '../cli/terminal.ts';

/** As terminals have it that say nothing. */
const DEFAULT_SIZE = { columns: 80, rows: 24 };
const OWN_SCREEN = '\u001b[?1049h\u001b[?25l';
const FORMER_SCREEN = '\u001b[?25h\u001b[?1049l';
/** Whoever pastes has not pressed all these keys. */
const MARK_PASTES = '\u001b[?2004h';
const DO_NOT_MARK_PASTES = '\u001b[?2004l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

const NAMES: Readonly<Record<string, string>> = { return: 'enter', enter: 'enter' };
const NAMED = new Set(['space', 'backspace', 'tab', 'escape', 'up', 'down', 'pageup', 'pagedown', 'home', 'end']);

/** What an arrow sends may come in pieces: its rest is not a key of its own. It is the one member that is read. */
const KEY_TIMING = { escapeCodeTimeout: 200 } as unknown as Interface;

interface ProcessTerminalOptions {
  /** Whether it knows how to move the cursor: others get one picture below the other. */
  readonly isPlain: boolean;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** @returns undefined when there is nobody before both */
export function findTerminal(options: ProcessTerminalOptions): Terminal | undefined {
  const { input, output } = options;
  return input.isTTY && output.isTTY ? new ProcessTerminal(options) : undefined;
}

class ProcessTerminal implements Terminal {
  readonly #options: ProcessTerminalOptions;
  #listener: TerminalListener | undefined;
  #isPasting = false;

  constructor(options: ProcessTerminalOptions) {
    this.#options = options;
  }

  // A terminal that was never told its size says 0.
  get columns(): number {
    return this.#options.output.columns || DEFAULT_SIZE.columns;
  }

  get rows(): number {
    return this.#options.output.rows || DEFAULT_SIZE.rows;
  }

  open(listener: TerminalListener): void {
    const { input, output } = this.#options;
    this.#listener = listener;
    emitKeypressEvents(input, KEY_TIMING);
    input.on('keypress', this.#onKey);
    // A terminal that was closed fails, or ends.
    input.on('error', this.#onGone);
    input.on('end', this.#onGone);
    output.on('resize', this.#onChange);
    process.on('SIGHUP', this.#onGone);
    process.on('SIGCONT', this.#onContinue);
    this.#take();
    input.resume();
  }

  show(lines: readonly string[]): void {
    const { isPlain, output } = this.#options;
    if (isPlain) output.write(`\n${lines.filter((line) => line !== '').join('\n')}\n`);
    else output.write(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${CLEAR_BELOW}`);
  }

  close(): void {
    const { input, output } = this.#options;
    if (this.#listener === undefined) return;
    this.#listener = undefined;
    input.off('keypress', this.#onKey);
    input.off('end', this.#onGone);
    output.off('resize', this.#onChange);
    process.off('SIGHUP', this.#onGone);
    process.off('SIGCONT', this.#onContinue);
    this.#giveBack();
    input.pause();
  }

  #take(): void {
    const { isPlain, input, output } = this.#options;
    input.setRawMode(true);
    output.write(isPlain ? MARK_PASTES : `${OWN_SCREEN}${MARK_PASTES}`);
  }

  #giveBack(): void {
    const { isPlain, input, output } = this.#options;
    output.write(isPlain ? DO_NOT_MARK_PASTES : `${DO_NOT_MARK_PASTES}${FORMER_SCREEN}`);
    // Where the terminal is gone there is no mode to set.
    if (!input.destroyed) input.setRawMode(false);
  }

  readonly #onKey = (character: string | undefined, { name, ctrl, meta, sequence }: Key): void => {
    if (name === 'paste-start' || name === 'paste-end') this.#isPasting = name === 'paste-start';
    else if (ctrl === true && name === 'z') this.#suspend();
    else if (ctrl === true) this.#listener?.pressed(`ctrl+${name}`);
    else if (!this.#isPasting && meta !== true) this.#press(name ?? '', character ?? sequence ?? '');
  };

  #press(name: string, character: string): void {
    const key = NAMES[name] ?? (NAMED.has(name) ? name : character);
    if (NAMES[name] !== undefined || NAMED.has(name) || /^\P{Cc}$/u.test(key)) this.#listener?.pressed(key);
  }

  /** As the keyboard would do it for whoever leaves it its meaning: all processes of the command. */
  #suspend(): void {
    if (process.platform === 'win32') return;
    this.#giveBack();
    process.kill(0, 'SIGTSTP');
  }

  readonly #onContinue = (): void => {
    this.#take();
    this.#listener?.changed();
  };

  readonly #onChange = (): void => this.#listener?.changed();

  readonly #onGone = (): void => this.#listener?.gone();
}
