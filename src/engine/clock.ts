// The clock of the engine: it measures spans, and never goes back.

import type { Clock } from '../domain/clock.ts';

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
