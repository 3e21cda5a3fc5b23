// Asks again and again until something is so, where no event tells of it. Never for ever: it ends with a sentence that
// says what did not come.

import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';

interface Patience {
  /** Default: less than the time a test has, so that the sentence is what one reads. Nobody is to be quick by it. */
  readonly withinMs?: number;
  /** Default: one, for what is asked about mostly needs this core. 0 is one turn of the event loop. */
  readonly pauseMs?: number;
}

export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { withinMs = 120_000, pauseMs = 1 }: Patience = {},
): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`It did not come, within ${withinMs / 1000} s, that ${what}.`);
    await (pauseMs === 0 ? turn() : pause(pauseMs));
  }
}

/** Some turns of the event loop, so that what has happened is noticed. */
export async function turns(count: number): Promise<void> {
  for (let done = 0; done < count; done++) await turn();
}
