// What ends the server: the first signal or fault asks it to stop, a later signal does not ask any more. What stopping
// means, server-run.ts knows.

import type { Logger } from '../observability/logger.ts';

/**
 * One Ctrl-C arrives more than once: the terminal gives it to every process of its group, and npm, npx and the launcher
 * pass on what they get. Whoever means it again takes longer.
 */
export const SAME_SIGNAL_MS = 1500;

export interface BusyEngine {
  status(): { readonly state: string; readonly busyWorkers: number };
}

export class StopRequest {
  readonly made: Promise<void>;
  reason: string | undefined;
  readonly #logger: Logger;
  readonly #make: () => void;
  #isRepeatMeant = false;
  #engine: BusyEngine | undefined;

  constructor(logger: Logger) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.made = promise;
    this.#make = resolve;
    this.#logger = logger;
    process.on('SIGTERM', this.#onSignal);
    process.on('SIGINT', this.#onSignal);
    process.on('uncaughtException', this.#onFault);
    process.on('unhandledRejection', this.#onFault);
  }

  watch(engine: BusyEngine): void {
    this.#engine = engine;
  }

  forget(): void {
    process.off('SIGTERM', this.#onSignal);
    process.off('SIGINT', this.#onSignal);
    process.off('uncaughtException', this.#onFault);
    process.off('unhandledRejection', this.#onFault);
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    if (this.#isRepeatMeant) endAtOnce(this.#engine);
    if (this.reason !== undefined) this.#logger.debug({ signal }, 'the same signal once more');
    else this.#beginWindow();
    this.reason ??= signal;
    this.#make();
  };

  // Left alone it would end the process, and with it the thread of a running model. What is going on is finished first.
  readonly #onFault = (error: unknown): void => {
    this.#logger.fatal({ err: error }, 'unexpected fault, stopping');
    if (this.reason === undefined) this.#beginWindow();
    this.reason ??= 'fault';
    this.#make();
  };

  /** A busy loop hears late of signals that came in time: they are taken in between the timer and the next check. */
  #beginWindow(): void {
    const end = (): void => {
      this.#isRepeatMeant = true;
      this.#logger.debug('from now on a further signal ends the server at once');
    };
    setTimeout(() => setImmediate(end), SAME_SIGNAL_MS).unref();
  }
}

/** An exit would end the threads, and a thread that is inside a model takes the process down with a core dump. */
function endAtOnce(engine: BusyEngine | undefined): void {
  const { state, busyWorkers } = engine?.status() ?? { state: 'loading', busyWorkers: 0 };
  if (state === 'loading' || busyWorkers > 0) process.kill(process.pid, 'SIGKILL');
  else process.exit(1);
}
