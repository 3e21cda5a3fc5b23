// The clock of the services: the time of day, and waiting by it.

import type { Clock } from '../domain/clock.ts';

export const wallClock: Clock = {
  nowMs: () => Date.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/** For a pause that nobody cuts short. */
export const NEVER = new AbortController().signal;

/** Resolves after a while. @throws the signal's reason, as soon as it is aborted */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
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
