// Time as the engine sees it. Handed in, so that tests can move it by hand.

export interface Clock {
  /** Milliseconds from any fixed point; never goes back. */
  nowMs(): number;
  /** Calls `action` once, `delayMs` from now. Never keeps the process alive. @returns a function that cancels it */
  after(delayMs: number, action: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
