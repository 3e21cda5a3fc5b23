// Ctrl-C and SIGTERM while a command works: the first asks it to come to its end, a later one ends the process.

import { type BusyEngine, SAME_SIGNAL_MS } from './stop-request.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const EXIT_INTERRUPTED = 130;

/** @param engines of this process. @returns what forgets it */
export function onInterrupt(stop: () => void, engines: Iterable<BusyEngine>): () => void {
  let firstMs: number | undefined;
  const onSignal = (): void => {
    const nowMs = performance.now();
    if (firstMs !== undefined && nowMs - firstMs > SAME_SIGNAL_MS) endCommand(engines);
    if (firstMs !== undefined) return;
    firstMs = nowMs;
    stop();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

/** An exit would end the threads, and a thread that is inside a model takes the process down with a core dump. */
function endCommand(engines: Iterable<BusyEngine>): void {
  const isBusy = [...engines].some((engine) => engine.status().busyWorkers > 0);
  if (isBusy) process.kill(process.pid, 'SIGKILL');
  else process.exit(EXIT_INTERRUPTED);
}
