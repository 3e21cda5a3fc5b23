// A terminal that somebody sits before, as a command sees it: a picture that is replaced as a whole, and keys. What it takes
// is app/terminal.ts's.

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  /** Takes screen and keyboard, until `close`. */
  open(listener: TerminalListener): void;
  /** Replaces what is seen. @param lines none wider than the terminal */
  show(lines: readonly string[]): void;
  /** As it was before. */
  close(): void;
}

export interface TerminalListener {
  /** @param key a character as typed; or `space`, `enter`, `tab`, `escape`, `backspace`, `up`, `ctrl+c`, … */
  pressed(key: string): void;
  /** Its size is another, or what was on it is gone: it is to be drawn again. */
  changed(): void;
  /** Nobody sits before it any more. */
  gone(): void;
}
