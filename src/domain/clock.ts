// Time as whoever waits sees it. Handed in, so that tests can move it by hand.

export interface Clock {
  /** Milliseconds: since the epoch of a clock on the wall, otherwise from any fixed point, and then it never goes back. */
  nowMs(): number;
  /** Calls `action` once, `delayMs` from now. Never keeps the process alive. @returns a function that cancels it */
  after(delayMs: number, action: () => void): () => void;
}
