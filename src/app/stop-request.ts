// What signals ask of the server: the first one, or a fault, asks it to stop, a later one does not ask any more; SIGHUP asks
// it to reload. What stopping and reloading mean, server-run.ts knows.

import { closeSync, openSync } from 'node:fs';
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
  readonly #hasTerminal: boolean;
  #reload: (() => void) | undefined;
  #isReloadDue = false;

  /** @param hasTerminal whether it was started in one, which may be closed */
  constructor(logger: Logger, hasTerminal: boolean) {
    this.#hasTerminal = hasTerminal;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.made = promise;
    this.#make = resolve;
    this.#logger = logger;
    process.on('SIGTERM', this.#onSignal);
    process.on('SIGINT', this.#onSignal);
    process.on('SIGHUP', this.#onHangUp);
    process.on('uncaughtException', this.#onFault);
    process.on('unhandledRejection', this.#onFault);
  }

  watch(engine: BusyEngine): void {
    this.#engine = engine;
  }

  /** Called for each SIGHUP from now on, and once now if there was one before. */
  onReload(reload: () => void): void {
    this.#reload = reload;
    if (this.#isReloadDue) reload();
  }

  forget(): void {
    process.off('SIGTERM', this.#onSignal);
    process.off('SIGINT', this.#onSignal);
    process.off('SIGHUP', this.#onHangUp);
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

  /** The same signal says that a terminal was closed, and nobody looks after what was started in it any more. */
  readonly #onHangUp = (): void => {
    if (this.#hasTerminal && isTerminalGone()) this.#onSignal('SIGHUP');
    if (this.reason !== undefined) return;
    this.#isReloadDue = true;
    this.#reload?.();
  };

  // Left alone it would end the process, and with it the thread of a running model. What is going on is finished first.
  readonly #onFault = (error: unknown): void => this.fail({ err: error }, 'unexpected fault, stopping');

  /** What was accepted is finished; then the exit code says that something was wrong. */
  fail(details: object, message: string): void {
    this.#logger.fatal(details, message);
    if (this.reason === undefined) this.#beginWindow();
    this.reason ??= 'fault';
    this.#make();
  }

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

/** A process keeps the terminal it was started in, by this name, until that is closed. */
function isTerminalGone(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}
