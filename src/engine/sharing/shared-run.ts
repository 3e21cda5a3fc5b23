// One run that several callers wait for. Each may leave by itself; the run is given up when the last one leaves. What
// runs, and what becomes of the result, its owner knows.

/** Callers of one run, from the first to the last. */
export class SharedRun<Result> {
  /** Of all callers together. */
  readonly #everybody = new AbortController();
  readonly outcome: Promise<Result>;
  #waiting = 0;

  /** @param run takes the signal that is aborted when nobody waits any more */
  constructor(run: (signal: AbortSignal) => Promise<Result>) {
    this.outcome = run(this.#everybody.signal);
    // Its callers see the failure; one may come when there are none left.
    this.outcome.catch(() => undefined);
  }

  /** Whether it goes on: somebody waits for it. */
  get isWanted(): boolean {
    return this.#waiting > 0;
  }

  /**
   * Rejects with the signal's reason when the caller leaves while others stay. The last one leaves as the run does: its
   * promise rejects when the run was not begun, and resolves when it was, for the work is done then.
   */
  wait(signal: AbortSignal): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting += 1;
    const leave = (): void => {
      this.#waiting -= 1;
      if (this.#waiting > 0) reject(signal.reason);
      else this.#everybody.abort(signal.reason);
    };
    const settled = <Value>(settle: (value: Value) => void) => {
      return (value: Value): void => {
        signal.removeEventListener('abort', leave);
        settle(value);
      };
    };
    this.outcome.then(settled(resolve), settled(reject));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    return promise;
  }
}
