// Time of day as services see it. Handed in, so that tests can move it by hand.

export interface WallClock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Calls `action` once, `delayMs` from now. Never keeps the process alive. @returns a function that cancels it */
  after(delayMs: number, action: () => void): () => void;
}

export const wallClock: WallClock = {
  nowMs: () => Date.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/** For a pause that nobody cuts short. */
export const NEVER = new AbortController().signal;

/** Resolves after a while. @throws the signal's reason, as soon as it is aborted */
export function pause(clock: WallClock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const leave = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', leave);
      resolve();
    });
    signal.addEventListener('abort', leave, { once: true });
  });
}
