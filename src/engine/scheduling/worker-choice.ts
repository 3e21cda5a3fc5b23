// Which of the idle workers a part goes to, or whether it waits for a busy one that would be spared more. Pure.

import type { Part } from './queued-ticket.ts';

export interface WorkerTimes {
  /** The one that has been idle longest first. At least one. */
  readonly idle: readonly number[];
  /** The others, with the time until each is expected to be free. */
  readonly busy: ReadonlyMap<number, number>;
}

/** @returns undefined when waiting for a busy worker pays */
export function chooseWorker(part: Pick<Part, 'savedMs' | 'mayWait'>, { idle, busy }: WorkerTimes): number | undefined {
  let best = idle[0];
  if (best === undefined) return undefined;
  let mostMs = part.savedMs(best);
  for (const worker of idle) {
    const savedMs = part.savedMs(worker);
    if (savedMs > mostMs) [best, mostMs] = [worker, savedMs];
  }
  if (!part.mayWait) return best;
  for (const [worker, freeInMs] of busy) if (part.savedMs(worker) - mostMs > freeInMs) return undefined;
  return best;
}
